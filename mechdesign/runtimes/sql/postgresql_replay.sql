-- Checks the sampler against its test vectors, after {{ stem }}.postgresql.sql:
-- psql -v ON_ERROR_STOP=1 -f {{ stem }}_replay.postgresql.sql
DO $$
DECLARE
    test record;
    outcome record;
    found text;
    used integer;
    cases integer := 0;
BEGIN
    FOR test IN SELECT * FROM (VALUES
{% for case in cases %}
        ({% if items %}{{ case.x }}::bigint{% else %}'{{ case.x | repr }}'::double precision{% endif %}, '\x{{ case.stream.hex() }}'::bytea, {{ case.used }}, '{{ "error" if case.y is none else case.y | digits }}'){{ "" if loop.last else "," }}
{% endfor %}
    ) AS cases (x, bytes, used, expected) LOOP
        cases := cases + 1;
        BEGIN
            SELECT * INTO outcome FROM {{ stem }}_trace(test.x, test.bytes);
            found := encode({{ "outcome.y" if items else "float8send(outcome.y)" }}, 'hex');
            used := outcome.used;
        EXCEPTION WHEN invalid_parameter_value THEN
            found := 'error';
        END;
        IF found IS DISTINCT FROM test.expected OR (found <> 'error' AND used IS DISTINCT FROM test.used) THEN
            RAISE EXCEPTION 'FAIL case %', cases;
        END IF;
    END LOOP;
    RAISE NOTICE 'PASS %', cases;
END
$$;
