-- The random bytes of a random UUID, without the two that hold its version and variant.
CREATE OR REPLACE FUNCTION @stem@_entropy() RETURNS bytea LANGUAGE sql VOLATILE AS $$
    SELECT substring(b from 1 for 6) || substring(b from 8 for 1) || substring(b from 10 for 7)
    FROM (SELECT uuid_send(pg_catalog.gen_random_uuid()) AS b) AS uuid
$$;

-- The bytes given, or with none given as many of the system's as are needed.
CREATE OR REPLACE FUNCTION @stem@_more(pool bytea, needed integer, given boolean) RETURNS bytea
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    WHILE length(pool) < needed LOOP
        IF given THEN
            RAISE EXCEPTION 'no random bytes left';
        END IF;
        pool := pool || @stem@_entropy();
        IF pool IS NULL THEN
            RAISE EXCEPTION 'no secure randomness';
        END IF;
    END LOOP;
    RETURN pool;
END
$$;
