-- The runs that go forward and whose deadline comes first. Without sorts, so that the planner reads the index of deadlines: beside a held snapshot the
-- index of live runs seems small, and is full of dead entries. An infinite deadline is a damaged one: it never comes.
CREATE FUNCTION "belay"."next_deadlines"(most integer, without uuid[]) RETURNS TABLE (id uuid, definition_id integer, deadline_at timestamp with time zone)
LANGUAGE sql STABLE
SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
  SELECT r.id, r.definition_id, r.deadline_at
  FROM "belay"."workflow_runs" r
  WHERE r.deadline_at < 'infinity' AND r.stop IS NULL AND r.status IN ('running', 'paused') AND r.id <> ALL (without)
  ORDER BY r.deadline_at
  LIMIT most
$$;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0017_next_deadlines', 5);
