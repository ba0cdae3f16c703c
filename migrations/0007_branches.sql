ALTER TABLE "belay"."workflow_steps" ADD COLUMN "branch" json;--> statement-breakpoint
CREATE OR REPLACE VIEW "belay"."workflow_step_overview" AS
SELECT
  s.run_id,
  r.workflow,
  r.key,
  s.step,
  ds.name,
  s.status,
  s.undo_of,
  ARRAY(
    SELECT dependency.name
    FROM unnest(ds.dependencies) AS number
    JOIN "belay"."workflow_definition_steps" dependency
      ON dependency.definition_id = r.definition_id AND dependency.step = number
    ORDER BY number
  ) AS depends_on,
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
  s.branch
FROM "belay"."workflow_steps" s
JOIN "belay"."workflow_runs" r ON r.id = s.run_id
JOIN "belay"."workflow_definition_steps" ds ON ds.definition_id = r.definition_id AND ds.step = s.step
LEFT JOIN "belay"."workflow_workers" w ON w.id = s.worker_id;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0007_branches', 5);
