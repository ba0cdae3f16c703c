-- Stops older code: it renames the columns that fence attempts.
CREATE TABLE "belay"."workflow_attempts" (
	"run_id" uuid NOT NULL,
	"step" integer NOT NULL,
	"fence" integer NOT NULL,
	"round" integer NOT NULL,
	"attempt" integer NOT NULL,
	"undo" boolean NOT NULL,
	"worker_id" uuid,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone NOT NULL,
	"ended" text NOT NULL,
	"error" json,
	CONSTRAINT "workflow_attempts_pkey" PRIMARY KEY("run_id","step","fence")
);
--> statement-breakpoint
-- The number that fences what is late; what people count has columns of its own.
ALTER TABLE "belay"."workflow_steps" RENAME COLUMN "attempt" TO "fence";--> statement-breakpoint
ALTER TABLE "belay"."workflow_ready" RENAME COLUMN "attempt" TO "fence";--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" DROP CONSTRAINT "workflow_runs_fits_status";--> statement-breakpoint
DROP INDEX "belay"."workflow_runs_deadline_idx";--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "input_hash" text;--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "tags" text[];--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "stray" boolean;--> statement-breakpoint
ALTER TABLE "belay"."workflow_definition_steps" ADD COLUMN "kind" text;--> statement-breakpoint
UPDATE "belay"."workflow_definition_steps" ds SET "kind" = step.shape->>'kind'
  FROM "belay"."workflow_definitions" d
  CROSS JOIN LATERAL json_array_elements(d."shape"->'steps') WITH ORDINALITY AS step (shape, position)
  WHERE ds."definition_id" = d."id" AND ds."step" = step.position - 1 AND step.shape->>'kind' IS NOT NULL;--> statement-breakpoint
CREATE INDEX "workflow_definition_steps_approval_idx" ON "belay"."workflow_definition_steps" USING btree ("definition_id","step") WHERE "belay"."workflow_definition_steps"."kind" = 'approval';--> statement-breakpoint
ALTER TABLE "belay"."workflow_signals" ADD COLUMN "superseded" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "belay"."workflow_signals" ADD COLUMN "payload_hash" text;--> statement-breakpoint
-- Of steps that an operator had asked anew: their keys may be sent again. Operators leave a history, so nothing else is read.
UPDATE "belay"."workflow_signals" g SET "superseded" = 1
  FROM (SELECT DISTINCT h."run_id" FROM "belay"."workflow_history" h) acted, "belay"."workflow_steps" s
  WHERE g."run_id" = acted."run_id" AND s."run_id" = ANY (ARRAY[g."run_id"]) AND s."step" = ANY (ARRAY[g."step"])
    AND s."signalled_at" IS NULL;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "succeeded" boolean;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "round" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "attempts" integer;--> statement-breakpoint
-- Rows that are there keep null: how many attempts they had was not counted.
ALTER TABLE "belay"."workflow_steps" ALTER COLUMN "attempts" SET DEFAULT 0;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "undo_attempts" integer;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "undo_failures" integer;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "undo_losses" integer;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "undo_started_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "undo_finished_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "undo_skipped" boolean;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "undo_error" json;--> statement-breakpoint
CREATE INDEX "workflow_runs_tags_idx" ON "belay"."workflow_runs" USING gin ("tags") WITH (gin_pending_list_limit=256) WHERE "belay"."workflow_runs"."tags" is not null;--> statement-breakpoint
CREATE INDEX "workflow_runs_stray_idx" ON "belay"."workflow_runs" USING btree ("created_at") WHERE "belay"."workflow_runs"."stray";--> statement-breakpoint
-- The first eight digits of a time-ordered id count units of 65.536 seconds. Runs of an engine whose clock was right are no strays.
UPDATE "belay"."workflow_runs" SET stray = true
WHERE abs(date_part('epoch', created_at) - 65.536::float8 * ('x' || left(id::text, 8))::bit(32)::bigint - 30) > 90;--> statement-breakpoint
-- Nothing is stored as scheduled or waiting.
DROP INDEX "belay"."workflow_runs_live_idx";--> statement-breakpoint
CREATE INDEX "workflow_runs_live_idx" ON "belay"."workflow_runs" USING btree ("id") WHERE ("belay"."workflow_runs"."status" in ('running', 'paused', 'compensating', 'compensation_failed'));--> statement-breakpoint
CREATE INDEX "workflow_runs_deadline_idx" ON "belay"."workflow_runs" USING btree ("deadline_at") WHERE "belay"."workflow_runs"."deadline_at" is not null and "belay"."workflow_runs"."stop" is null and ("belay"."workflow_runs"."status" in ('running', 'paused'));--> statement-breakpoint
ALTER TABLE "belay"."workflow_signals" DROP CONSTRAINT "workflow_signals_pkey";
--> statement-breakpoint
ALTER TABLE "belay"."workflow_signals" ADD CONSTRAINT "workflow_signals_pkey" PRIMARY KEY("run_id","step","key","superseded");--> statement-breakpoint
-- Not validated: of the statuses that were ever stored it allows more than the one it replaces, so every row has it already.
ALTER TABLE "belay"."workflow_runs" ADD CONSTRAINT "workflow_runs_fits_status" CHECK (case
    when "belay"."workflow_runs"."finished_at" is null and "belay"."workflow_runs"."stop" is null then ("belay"."workflow_runs"."status" in ('running', 'paused'))
    when "belay"."workflow_runs"."finished_at" is null then ("belay"."workflow_runs"."status" in ('compensating', 'compensation_failed', 'paused'))
    when "belay"."workflow_runs"."stop" is null then "belay"."workflow_runs"."status" = 'completed'
    else ("belay"."workflow_runs"."status" in ('failed', 'compensated', 'cancelled')) end) NOT VALID;--> statement-breakpoint
-- Until now a step's round was told from this number. Only operators begin another, so no run without a history is looked at.
UPDATE "belay"."workflow_steps" s SET round = s.fence / 40000000 + 1
FROM (SELECT DISTINCT h.run_id FROM "belay"."workflow_history" h) acted
WHERE s.run_id = acted.run_id AND s.fence >= 40000000;--> statement-breakpoint
-- The undos of live runs go on where they are. What is undone for good keeps what is known of its undo in the columns of the way forward.
UPDATE "belay"."workflow_steps" s
SET undo_attempts = s.failures + s.losses + (s.worker_id IS NOT NULL)::integer, undo_failures = s.failures, undo_losses = s.losses,
  undo_started_at = CASE WHEN s.worker_id IS NOT NULL OR s.failures + s.losses > 0 THEN s.started_at END,
  undo_finished_at = CASE WHEN s.worker_id IS NOT NULL OR s.failures + s.losses > 0 THEN s.finished_at END,
  undo_error = CASE WHEN s.failures > 0 OR s.status = 'compensation_failed' THEN s.error END
FROM "belay"."workflow_runs" r
WHERE r.status IN ('compensating', 'compensation_failed') AND s.run_id = r.id AND s.undo_of IS NOT NULL;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_fits_status";--> statement-breakpoint
-- Not validated, as above.
ALTER TABLE "belay"."workflow_steps" ADD CONSTRAINT "workflow_steps_fits_status" CHECK (case
    when "belay"."workflow_steps"."undo_of" is not null then ("belay"."workflow_steps"."undo_of" in ('completed', 'failed', 'skipped', 'cancelled'))
      and ("belay"."workflow_steps"."status" in ('compensating', 'compensated', 'compensation_failed'))
      and ("belay"."workflow_steps"."status" <> 'compensated' or coalesce("belay"."workflow_steps"."undo_finished_at", "belay"."workflow_steps"."finished_at") is not null)
    when "belay"."workflow_steps"."status" = 'running' then "belay"."workflow_steps"."open_dependencies" = 0 and "belay"."workflow_steps"."worker_id" is not null and "belay"."workflow_steps"."started_at" is not null
    when "belay"."workflow_steps"."status" = 'completed' then "belay"."workflow_steps"."open_dependencies" = 0 and "belay"."workflow_steps"."finished_at" is not null
    when "belay"."workflow_steps"."status" = 'pending' then "belay"."workflow_steps"."open_dependencies" > 0
    when "belay"."workflow_steps"."worker_id" is null and "belay"."workflow_steps"."status" = 'waiting' then "belay"."workflow_steps"."waiting_since" is not null
    when "belay"."workflow_steps"."worker_id" is null and "belay"."workflow_steps"."status" = 'ready' then true
    when "belay"."workflow_steps"."finished_at" is not null and "belay"."workflow_steps"."status" = 'failed' then true
    else ("belay"."workflow_steps"."status" in ('skipped', 'cancelled')) end) NOT VALID;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_counters_counted";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD CONSTRAINT "workflow_steps_counters_counted" CHECK (least("belay"."workflow_steps"."open_dependencies", "belay"."workflow_steps"."fence", "belay"."workflow_steps"."failures", "belay"."workflow_steps"."losses") >= 0) NOT VALID;--> statement-breakpoint
-- The instant of its reading: read under a lock, it is later than what was written under that lock before. A test may replace it.
CREATE FUNCTION "belay"."store_clock"() RETURNS timestamp with time zone
LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$ select pg_catalog.clock_timestamp() $$;
--> statement-breakpoint
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
  CASE WHEN s.undo_of IS NOT NULL THEN s.undo_error END AS undo_error
FROM "belay"."workflow_steps" s
JOIN "belay"."workflow_runs" r ON r.id = s.run_id
JOIN "belay"."workflow_definition_steps" ds ON ds.definition_id = r.definition_id AND ds.step = s.step
LEFT JOIN "belay"."workflow_workers" w ON w.id = s.worker_id;
--> statement-breakpoint
-- Who may run on the schema from a migration on: the number of the last migration that the oldest such code knows. Rows from before say nothing.
ALTER TABLE "belay"."workflow_migrations" ADD COLUMN oldest_code integer;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0005_rounds_undo_columns_and_tags', 5);
