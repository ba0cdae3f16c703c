ALTER TABLE "belay"."workflow_definitions" ADD COLUMN "pivots" integer[];--> statement-breakpoint
ALTER TABLE "belay"."workflow_definitions" ADD COLUMN "irreversible" integer[];
--> statement-breakpoint
-- A run in which a step failed after a pivot waits for an operator, whatever else goes on in it.
CREATE OR REPLACE FUNCTION "belay"."shown_status"(run_id uuid, status text, start_at timestamp with time zone) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT CASE
    WHEN $2 <> 'running' THEN $2
    WHEN $3 > "belay"."store_now"() THEN 'scheduled'
    WHEN EXISTS (
      SELECT FROM "belay"."workflow_steps" s
      JOIN "belay"."workflow_runs" r ON r.id = s.run_id
      JOIN "belay"."workflow_definitions" d ON d.id = r.definition_id
      CROSS JOIN LATERAL (SELECT d.shape->'steps'->(CASE WHEN s.step < 65536 THEN s.step ELSE (s.step >> 16) - 1 END) AS own) shape
      WHERE s.run_id = $1 AND s.status = 'failed'
        AND EXISTS (SELECT FROM "belay"."workflow_steps" p WHERE p.run_id = $1 AND p.step = ANY (d.pivots) AND p.status = 'completed')
        -- The run goes on past some failures. Of a map, what the shape says is about its items.
        AND (shape.own->>'onFailure' IS DISTINCT FROM 'continue' OR (s.step < 65536 AND shape.own->>'kind' = 'map'))
    ) THEN 'parked'
    WHEN EXISTS (SELECT FROM "belay"."workflow_steps" s WHERE s.run_id = $1 AND s.status = 'waiting')
      AND NOT EXISTS (SELECT FROM "belay"."workflow_steps" s WHERE s.run_id = $1 AND s.status IN ('ready', 'running')) THEN 'waiting'
    ELSE $2
  END
$$;
--> statement-breakpoint
CREATE OR REPLACE VIEW "belay"."workflow_step_overview" AS
SELECT
  s.run_id,
  r.workflow,
  r.key,
  s.step,
  -- An item has no step of its own in the definition: its map's decides it, "resize[]", and its name is "resize[key]".
  CASE WHEN s.item_key IS NULL THEN ds.name ELSE left(ds.name, -1) || s.item_key || ']' END AS name,
  s.status,
  s.undo_of,
  CASE WHEN s.item_key IS NULL THEN ARRAY(
    SELECT dependency.name
    FROM unnest(ds.dependencies) AS number
    JOIN "belay"."workflow_definition_steps" dependency
      ON dependency.definition_id = r.definition_id AND dependency.step = number
    ORDER BY number
  ) ELSE ARRAY[ds.name] END AS depends_on,
  s.open_dependencies,
  coalesce(s.attempts, s.fence % 40000000) AS attempt,
  s.failures,
  s.losses,
  w.name AS worker,
  s.worker_id,
  s.started_at,
  s.finished_at,
  coalesce(s.finished_at, "belay"."store_now"()) - s.started_at AS duration,
  s.output,
  s.error,
  s.available_at,
  s.waiting_since,
  s.signalled_at,
  s.failing_since,
  s.round,
  -- Of a step that was passed by in an undo, the columns of its undo tell nothing any more.
  CASE WHEN s.undo_of IS NOT NULL THEN s.undo_attempts END AS undo_attempts,
  CASE WHEN s.undo_of IS NOT NULL THEN s.undo_failures END AS undo_failures,
  CASE WHEN s.undo_of IS NOT NULL THEN s.undo_losses END AS undo_losses,
  CASE WHEN s.undo_of IS NOT NULL THEN s.undo_started_at END AS undo_started_at,
  CASE WHEN s.undo_of IS NOT NULL THEN s.undo_finished_at END AS undo_finished_at,
  CASE WHEN s.undo_of IS NOT NULL THEN coalesce(s.undo_finished_at, "belay"."store_now"()) - s.undo_started_at END AS undo_duration,
  s.undo_of IS NOT NULL AND s.undo_skipped IS TRUE AS undo_skipped,
  CASE WHEN s.undo_of IS NOT NULL THEN s.undo_error END AS undo_error,
  -- An operator who skips a step decides no branch.
  CASE WHEN 'skipped' IN (s.status, s.undo_of) THEN coalesce(s.branch->>'because', 'operator') END AS skipped_because,
  s.branch,
  s.item_key,
  s.item,
  coalesce(ds.step = ANY (d.pivots), false) AS pivot,
  -- Of a map, its items are marked, and not the step that decides them.
  coalesce(ds.step = ANY (d.irreversible), false) AND (s.item_key IS NOT NULL OR ds.kind IS DISTINCT FROM 'map') AS irreversible
FROM "belay"."workflow_steps" s
JOIN "belay"."workflow_runs" r ON r.id = s.run_id
JOIN "belay"."workflow_definitions" d ON d.id = r.definition_id
JOIN "belay"."workflow_definition_steps" ds ON ds.definition_id = r.definition_id AND ds.step = CASE WHEN s.step < 65536 THEN s.step ELSE (s.step >> 16) - 1 END
LEFT JOIN "belay"."workflow_workers" w ON w.id = s.worker_id;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0010_pivots', 5);
