-- Of UsageRecorder (src/usage), which adds the counts of a second to the tables.
--
-- Promises: buckets of durations are added one by one.

CREATE OR REPLACE FUNCTION add_buckets(p_one bigint[], p_other bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS
  $$ SELECT array_agg(coalesce(a, 0) + coalesce(b, 0) ORDER BY i)
     FROM unnest(p_one, p_other) WITH ORDINALITY AS pairs (a, b, i) $$;
