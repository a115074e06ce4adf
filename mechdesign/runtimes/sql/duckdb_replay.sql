{% from "sql/duckdb_literals.sql" import literal %}
-- Checks the sampler against its test vectors, after {{ stem }}.duckdb.sql: returns PASS and the number of cases,
-- or stops at the first case that fails.
CREATE OR REPLACE TEMP TABLE {{ stem }}_cases (number BIGINT, x {{ "BIGINT" if items else "DOUBLE" }}, bytes BLOB, used BIGINT, y {{ "BLOB" if items else "DOUBLE" }});
INSERT INTO {{ stem }}_cases VALUES
{% for case in cases %}
    ({{ loop.index }}, {{ literal(case.x) }}, unhex('{{ case.stream.hex() }}'), {{ case.used }}, {% if case.y is none %}NULL{% elif items %}unhex('{{ case.y.hex() }}'){% else %}{{ literal(case.y) }}{% endif %}){{ ";" if loop.last else "," }}
{% endfor %}
WITH traced AS (
    SELECT number, used, y, CASE WHEN y IS NOT NULL THEN {{ stem }}_trace(x, bytes) END AS found, x{{ "" if items else ", bytes" }} FROM {{ stem }}_cases
), verdicts AS (
    SELECT number, coalesce(CASE WHEN y IS NULL THEN NOT {{ stem }}_accepts(x)
        ELSE found.y = y{% if not items %} AND signbit(found.y) = signbit(y){% endif %} AND found.used = used END, false) AS passed FROM traced
)
SELECT CASE WHEN count(*) > 0 AND bool_and(passed) THEN 'PASS ' || count(*)
    ELSE error('FAIL case ' || coalesce(min(number) FILTER (WHERE NOT passed), 0)) END AS verdict
FROM verdicts;
