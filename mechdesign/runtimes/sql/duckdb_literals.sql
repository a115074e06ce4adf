{# Macros have no constants: numbers stand where they are used. DuckDB has no escapes in texts, but in bytes. #}
{% macro literal(value) %}
{% if value is integer %}
{{ value }}
{%- elif value is float %}
'{{ value | repr }}'::DOUBLE
{%- elif value is texts %}
([{{ value | map("duckdb_text") | in_lines(", ", 110) | join("\n") }}]::VARCHAR[])
{%- elif value is whole %}
([{{ value | flat | map("repr") | in_lines(", ", 110) | join("\n") }}]::BIGINT[])
{%- else %}
([{{ value | flat | map("quoted") | in_lines(", ", 110) | join("\n") }}]::DOUBLE[])
{%- endif %}
{% endmacro %}
