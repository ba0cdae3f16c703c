CREATE TABLE "belay"."workflow_history" (
	"run_id" uuid NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "belay"."workflow_history_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone NOT NULL,
	"step" integer,
	"action" text NOT NULL,
	"actor" text,
	"reason" text,
	"change" json,
	CONSTRAINT "workflow_history_pkey" PRIMARY KEY("run_id","id")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_signals" (
	"run_id" uuid NOT NULL,
	"step" integer NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"key" text NOT NULL,
	"actor" text,
	"payload" json,
	CONSTRAINT "workflow_signals_pkey" PRIMARY KEY("run_id","step","key")
);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" DROP CONSTRAINT "workflow_runs_stop_allowed";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_started_has_no_dependencies";--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "start_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "deadline_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "available_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "waiting_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "signalled_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "failing_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" ADD COLUMN "renewed_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" ADD COLUMN "slots" integer;--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" ADD COLUMN "busy" integer;--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" ADD COLUMN "host" text;--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" ADD COLUMN "definition_ids" integer[];--> statement-breakpoint
CREATE INDEX "workflow_runs_finished_idx" ON "belay"."workflow_runs" USING btree ("finished_at","id") WHERE "belay"."workflow_runs"."finished_at" is not null;--> statement-breakpoint
CREATE INDEX "workflow_runs_deadline_idx" ON "belay"."workflow_runs" USING btree ("deadline_at") WHERE "belay"."workflow_runs"."deadline_at" is not null and ("belay"."workflow_runs"."status" in ('running', 'paused'));--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD CONSTRAINT "workflow_runs_stop_allowed" CHECK (("belay"."workflow_runs"."stop" in ('failure', 'cancellation', 'abandonment')));--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD CONSTRAINT "workflow_steps_waiting_has_no_worker" CHECK ("belay"."workflow_steps"."status" <> 'waiting' or ("belay"."workflow_steps"."worker_id" is null and "belay"."workflow_steps"."waiting_since" is not null));--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD CONSTRAINT "workflow_steps_started_has_no_dependencies" CHECK ("belay"."workflow_steps"."status" not in ('ready', 'running', 'waiting', 'completed') or "belay"."workflow_steps"."open_dependencies" = 0);--> statement-breakpoint
-- The instant of the statement, not of its transaction: that may be a handler's or a caller's, and have begun long before.
CREATE OR REPLACE FUNCTION "belay"."store_now"() RETURNS timestamp with time zone
LANGUAGE sql STABLE PARALLEL SAFE
AS $$ select pg_catalog.statement_timestamp() $$;
--> statement-breakpoint
-- A run that has not begun reads as scheduled, and one in which every live step waits as waiting: nobody has to notice when that ends.
CREATE FUNCTION "belay"."shown_status"(run_id uuid, status text, start_at timestamp with time zone) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT CASE
    WHEN $2 <> 'running' THEN $2
    WHEN $3 > "belay"."store_now"() THEN 'scheduled'
    WHEN EXISTS (SELECT FROM "belay"."workflow_steps" s WHERE s.run_id = $1 AND s.status = 'waiting')
      AND NOT EXISTS (SELECT FROM "belay"."workflow_steps" s WHERE s.run_id = $1 AND s.status IN ('ready', 'running')) THEN 'waiting'
    ELSE $2
  END
$$;
--> statement-breakpoint
CREATE OR REPLACE VIEW "belay"."workflow_run_overview" AS
SELECT
  r.id AS run_id,
  r.workflow,
  d.version,
  r.key,
  r.status,
  r.stop,
  r.cause,
  r.created_at,
  r.finished_at,
  coalesce(r.finished_at, "belay"."store_now"()) - r.created_at AS duration,
  r.start_at,
  r.deadline_at,
  -- To be read, not to be searched by: the stored status is what is indexed.
  CASE WHEN r.status = 'compensating' AND r.ends_as IS NULL THEN 'compensating (draining)'
    ELSE "belay"."shown_status"(r.id, r.status, r.start_at) END AS shown_status
FROM "belay"."workflow_runs" r
JOIN "belay"."workflow_definitions" d ON d.id = r.definition_id;
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
  s.attempt,
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
  s.failing_since
FROM "belay"."workflow_steps" s
JOIN "belay"."workflow_runs" r ON r.id = s.run_id
JOIN "belay"."workflow_definition_steps" ds ON ds.definition_id = r.definition_id AND ds.step = s.step
LEFT JOIN "belay"."workflow_workers" w ON w.id = s.worker_id;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag) VALUES ('0002_waits_control_and_retention');
