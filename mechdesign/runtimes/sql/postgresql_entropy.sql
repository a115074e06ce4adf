-- The random bytes of a random UUID, without the two that hold its version and variant.
CREATE OR REPLACE FUNCTION @extschema@.{{ stem }}_entropy() RETURNS bytea LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    SELECT pg_catalog.substring(b, 1, 6) || pg_catalog.substring(b, 8, 1) || pg_catalog.substring(b, 10, 7)
    FROM (SELECT pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) AS b) AS uuid
$$;

-- The bytes given, or with none given as many of the system's as are needed.
CREATE OR REPLACE FUNCTION @extschema@.{{ stem }}_more(pool bytea, needed integer, given boolean) RETURNS bytea
LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
BEGIN
    WHILE length(pool) < needed LOOP
        IF given THEN
            RAISE EXCEPTION 'no random bytes left';
        END IF;
        pool := pool || @extschema@.{{ stem }}_entropy();
        IF pool IS NULL THEN
            RAISE EXCEPTION 'no secure randomness';
        END IF;
    END LOOP;
    RETURN pool;
END
$$;
