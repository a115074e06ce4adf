-- Checks the sampler against its test vectors, after @stem@.postgresql.sql:
-- psql -v ON_ERROR_STOP=1 -f @stem@_replay.postgresql.sql
DO $$
DECLARE
    test record;
    outcome record;
    found text;
    cases integer := 0;
BEGIN
    FOR test IN SELECT * FROM (VALUES
@cases@
    ) AS cases (x, bytes, used, expected) LOOP
        cases := cases + 1;
        BEGIN
            SELECT * INTO outcome FROM @stem@_trace(test.x, test.bytes);
            found := encode(outcome.y, 'hex');
        EXCEPTION WHEN invalid_parameter_value THEN
            found := 'error';
        END;
        IF found <> test.expected OR (found <> 'error' AND outcome.used <> test.used) THEN
            RAISE EXCEPTION 'FAIL case %', cases;
        END IF;
    END LOOP;
    RAISE NOTICE 'PASS %', cases;
END
$$;
