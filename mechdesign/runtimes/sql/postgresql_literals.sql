{# A constant of a function; with a cast the text of a list is read once, without one at every call. #}
{% macro constant(name, value) %}
{% if value is texts %}
    the_{{ name }} CONSTANT text[] := ARRAY[
        {{ value | map("postgresql_text") | in_lines(", ", 100) | join("\n        ") }}
    ];
{%- elif value is sequence %}
{% set element = "bigint" if value is whole else "double precision" %}
    the_{{ name }} CONSTANT {{ element }}[] := '{
        {{ value | flat | map("repr") | in_lines(",", 100) | join("\n        ") }}
    }'::{{ element }}[];
{%- else %}
    the_{{ name }} CONSTANT {{ "bigint" if value is integer else "double precision" }} := '{{ value | repr }}'::{{ "bigint" if value is integer else "double precision" }};
{%- endif %}
{% endmacro %}
