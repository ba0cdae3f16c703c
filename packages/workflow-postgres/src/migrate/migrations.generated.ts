// Made by `pnpm db:generate` from the folder migrations/. Don't edit.
export const MIGRATIONS: readonly { readonly tag: string; readonly hash: string; readonly sql: string }[] = [
  {
    tag: '0000_tables',
    hash: '44865bf8332cfc48d77e0bdfecee5e814fb1d48ada9ebc220b569a7157931067',
    sql: `CREATE SCHEMA IF NOT EXISTS "belay";
--> statement-breakpoint
CREATE TABLE "belay"."workflow_definition_steps" (
	"definition_id" integer NOT NULL,
	"step" integer NOT NULL,
	"name" text NOT NULL,
	"dependencies" integer[] NOT NULL,
	"dependents" integer[] NOT NULL,
	CONSTRAINT "workflow_definition_steps_pkey" PRIMARY KEY("definition_id","step")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_definitions" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "belay"."workflow_definitions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"version" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"name" text NOT NULL,
	"checksum" text NOT NULL,
	"shape" json NOT NULL,
	CONSTRAINT "workflow_definitions_name_version_key" UNIQUE("name","version"),
	CONSTRAINT "workflow_definitions_version_allowed" CHECK ("belay"."workflow_definitions"."version" >= 1)
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_ready" (
	"available_at" timestamp with time zone NOT NULL,
	"definition_id" integer NOT NULL,
	"step" integer NOT NULL,
	"attempt" integer NOT NULL,
	"run_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"definition_id" integer NOT NULL,
	"open_steps" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone,
	"status" text NOT NULL,
	"stop" text,
	"ends_as" text,
	"workflow" text NOT NULL,
	"key" text,
	"input" json,
	"cause" json,
	CONSTRAINT "workflow_runs_status_allowed" CHECK (("belay"."workflow_runs"."status" in ('scheduled', 'running', 'waiting', 'paused', 'compensating', 'completed', 'failed', 'compensated', 'compensation_failed', 'cancelled'))),
	CONSTRAINT "workflow_runs_open_steps_counted" CHECK ("belay"."workflow_runs"."open_steps" >= 0),
	CONSTRAINT "workflow_runs_stop_allowed" CHECK (("belay"."workflow_runs"."stop" in ('failure', 'cancellation'))),
	CONSTRAINT "workflow_runs_ends_as_allowed" CHECK (("belay"."workflow_runs"."ends_as" in ('failed', 'compensated', 'cancelled'))),
	CONSTRAINT "workflow_runs_stopped_has_cause" CHECK (("belay"."workflow_runs"."stop" is null) = ("belay"."workflow_runs"."cause" is null)),
	CONSTRAINT "workflow_runs_undone_was_stopped" CHECK (("belay"."workflow_runs"."stop" is not null) = ("belay"."workflow_runs"."status" in ('compensating', 'compensation_failed', 'failed', 'compensated', 'cancelled'))),
	CONSTRAINT "workflow_runs_undo_was_stopped" CHECK ("belay"."workflow_runs"."ends_as" is null or "belay"."workflow_runs"."stop" is not null),
	CONSTRAINT "workflow_runs_finished_has_time" CHECK (("belay"."workflow_runs"."finished_at" is not null) = ("belay"."workflow_runs"."status" in ('completed', 'failed', 'compensated', 'cancelled')))
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_steps" (
	"run_id" uuid NOT NULL,
	"step" integer NOT NULL,
	"open_dependencies" integer NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"losses" integer DEFAULT 0 NOT NULL,
	"worker_id" uuid,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"status" text NOT NULL,
	"undo_of" text,
	"output" json,
	"error" json,
	CONSTRAINT "workflow_steps_pkey" PRIMARY KEY("run_id","step"),
	CONSTRAINT "workflow_steps_status_allowed" CHECK (("belay"."workflow_steps"."status" in ('pending', 'ready', 'running', 'waiting', 'completed', 'failed', 'skipped', 'cancelled', 'compensating', 'compensated', 'compensation_failed'))),
	CONSTRAINT "workflow_steps_counters_counted" CHECK ("belay"."workflow_steps"."open_dependencies" >= 0 and "belay"."workflow_steps"."attempt" >= 0 and "belay"."workflow_steps"."failures" >= 0 and "belay"."workflow_steps"."losses" >= 0),
	CONSTRAINT "workflow_steps_pending_has_dependencies" CHECK ("belay"."workflow_steps"."status" <> 'pending' or "belay"."workflow_steps"."open_dependencies" > 0),
	CONSTRAINT "workflow_steps_started_has_no_dependencies" CHECK ("belay"."workflow_steps"."status" not in ('ready', 'running', 'completed') or "belay"."workflow_steps"."open_dependencies" = 0),
	CONSTRAINT "workflow_steps_running_has_worker" CHECK ("belay"."workflow_steps"."status" <> 'running' or ("belay"."workflow_steps"."worker_id" is not null and "belay"."workflow_steps"."started_at" is not null)),
	CONSTRAINT "workflow_steps_ready_has_no_worker" CHECK ("belay"."workflow_steps"."status" <> 'ready' or "belay"."workflow_steps"."worker_id" is null),
	CONSTRAINT "workflow_steps_ended_has_time" CHECK ("belay"."workflow_steps"."status" not in ('completed', 'failed', 'compensated') or "belay"."workflow_steps"."finished_at" is not null),
	CONSTRAINT "workflow_steps_undo_has_origin" CHECK (("belay"."workflow_steps"."undo_of" is not null) = ("belay"."workflow_steps"."status" in ('compensating', 'compensated', 'compensation_failed'))),
	CONSTRAINT "workflow_steps_undo_of_allowed" CHECK (("belay"."workflow_steps"."undo_of" in ('completed', 'failed', 'skipped', 'cancelled')))
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_workers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"lease_expires_at" timestamp with time zone NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"swept_through" uuid,
	"status" text NOT NULL,
	"name" text NOT NULL,
	CONSTRAINT "workflow_workers_status_allowed" CHECK (("belay"."workflow_workers"."status" in ('live', 'dead')))
);
--> statement-breakpoint
CREATE INDEX "workflow_ready_due_idx" ON "belay"."workflow_ready" USING btree ("definition_id","available_at","run_id","step");--> statement-breakpoint
CREATE UNIQUE INDEX "workflow_runs_workflow_key_key" ON "belay"."workflow_runs" USING btree ("workflow","key") WHERE "belay"."workflow_runs"."key" is not null;--> statement-breakpoint
CREATE INDEX "workflow_runs_workflow_status_idx" ON "belay"."workflow_runs" USING btree ("workflow","status","id");--> statement-breakpoint
CREATE INDEX "workflow_runs_live_idx" ON "belay"."workflow_runs" USING btree ("id") WHERE ("belay"."workflow_runs"."status" in ('scheduled', 'running', 'waiting', 'paused', 'compensating', 'compensation_failed'));--> statement-breakpoint
CREATE INDEX "workflow_runs_draining_idx" ON "belay"."workflow_runs" USING btree ("id") WHERE "belay"."workflow_runs"."status" = 'compensating' and "belay"."workflow_runs"."ends_as" is null;`,
  },
  {
    tag: '0001_clock_views_and_storage',
    hash: '611a5bfa632db384e0d6c20a4d4ab91b39832d75cca4050f2cc96b9968af0fb5',
    sql: `-- What drizzle-kit cannot generate: the clock, the views for people, and storage settings.

-- Every statement takes its time from here, so that a test can control time by replacing it.
CREATE FUNCTION "belay"."store_now"() RETURNS timestamp with time zone
LANGUAGE sql STABLE PARALLEL SAFE
AS $$ select pg_catalog.now() $$;
--> statement-breakpoint
-- Room on each page for new versions of its rows: most updates of a step then touch no index.
ALTER TABLE "belay"."workflow_steps" SET (fillfactor = 50);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" SET (fillfactor = 70);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
--> statement-breakpoint
-- The queue lives by inserts and deletes: claims walk over every dead row that is left lying.
ALTER TABLE "belay"."workflow_ready" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
--> statement-breakpoint
CREATE VIEW "belay"."workflow_run_overview" AS
SELECT
  r.id AS run_id,
  r.workflow,
  d.version,
  r.key,
  CASE WHEN r.status = 'compensating' AND r.ends_as IS NULL THEN 'compensating (draining)' ELSE r.status END AS status,
  r.stop,
  r.cause,
  r.created_at,
  r.finished_at,
  coalesce(r.finished_at, "belay"."store_now"()) - r.created_at AS duration
FROM "belay"."workflow_runs" r
JOIN "belay"."workflow_definitions" d ON d.id = r.definition_id;
--> statement-breakpoint
CREATE VIEW "belay"."workflow_step_overview" AS
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
  s.error
FROM "belay"."workflow_steps" s
JOIN "belay"."workflow_runs" r ON r.id = s.run_id
JOIN "belay"."workflow_definition_steps" ds ON ds.definition_id = r.definition_id AND ds.step = s.step
LEFT JOIN "belay"."workflow_workers" w ON w.id = s.worker_id;
--> statement-breakpoint
-- What has been applied. Each migration adds its own row, so that running the files by hand counts too; migrate() adds the hash.
CREATE TABLE "belay"."workflow_migrations" (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tag text NOT NULL,
  hash text,
  applied_at timestamp with time zone NOT NULL DEFAULT "belay"."store_now"(),
  CONSTRAINT workflow_migrations_tag_key UNIQUE (tag)
);
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag) VALUES ('0000_tables'), ('0001_clock_views_and_storage');
`,
  },
  {
    tag: '0002_waits_control_and_retention',
    hash: 'af357aa500bccd3d69f65fb6a0d46027c12a18bbd3cdcd6b39405518deb97d24',
    sql: `CREATE TABLE "belay"."workflow_history" (
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
`,
  },
  {
    tag: '0003_one_check_per_status',
    hash: 'b27d1baaf26d9ce56f4bf7af6002c1b42466ae7a61dffeb586d6487bf91a7208',
    sql: `ALTER TABLE "belay"."workflow_runs" DROP CONSTRAINT "workflow_runs_status_allowed";--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" DROP CONSTRAINT "workflow_runs_undone_was_stopped";--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" DROP CONSTRAINT "workflow_runs_finished_has_time";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_status_allowed";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_pending_has_dependencies";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_started_has_no_dependencies";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_running_has_worker";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_ready_has_no_worker";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_waiting_has_no_worker";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_ended_has_time";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_undo_has_origin";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_undo_of_allowed";--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD CONSTRAINT "workflow_runs_fits_status" CHECK (case "belay"."workflow_runs"."status"
    when 'running' then "belay"."workflow_runs"."stop" is null and "belay"."workflow_runs"."finished_at" is null
    when 'completed' then "belay"."workflow_runs"."stop" is null and "belay"."workflow_runs"."finished_at" is not null
    when 'compensating' then "belay"."workflow_runs"."stop" is not null and "belay"."workflow_runs"."finished_at" is null
    when 'compensation_failed' then "belay"."workflow_runs"."stop" is not null and "belay"."workflow_runs"."finished_at" is null
    when 'compensated' then "belay"."workflow_runs"."stop" is not null and "belay"."workflow_runs"."finished_at" is not null
    when 'failed' then "belay"."workflow_runs"."stop" is not null and "belay"."workflow_runs"."finished_at" is not null
    when 'cancelled' then "belay"."workflow_runs"."stop" is not null and "belay"."workflow_runs"."finished_at" is not null
    when 'paused' then "belay"."workflow_runs"."stop" is null and "belay"."workflow_runs"."finished_at" is null
    when 'scheduled' then "belay"."workflow_runs"."stop" is null and "belay"."workflow_runs"."finished_at" is null
    when 'waiting' then "belay"."workflow_runs"."stop" is null and "belay"."workflow_runs"."finished_at" is null
    else false end);--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD CONSTRAINT "workflow_steps_fits_status" CHECK (case "belay"."workflow_steps"."status"
    when 'running' then "belay"."workflow_steps"."open_dependencies" = 0 and "belay"."workflow_steps"."worker_id" is not null and "belay"."workflow_steps"."started_at" is not null and "belay"."workflow_steps"."undo_of" is null
    when 'pending' then "belay"."workflow_steps"."open_dependencies" > 0 and "belay"."workflow_steps"."undo_of" is null
    when 'ready' then "belay"."workflow_steps"."open_dependencies" = 0 and "belay"."workflow_steps"."worker_id" is null and "belay"."workflow_steps"."undo_of" is null
    when 'completed' then "belay"."workflow_steps"."open_dependencies" = 0 and "belay"."workflow_steps"."finished_at" is not null and "belay"."workflow_steps"."undo_of" is null
    when 'compensating' then "belay"."workflow_steps"."undo_of" is not null and ("belay"."workflow_steps"."undo_of" in ('completed', 'failed', 'skipped', 'cancelled'))
    when 'compensated' then "belay"."workflow_steps"."finished_at" is not null and "belay"."workflow_steps"."undo_of" is not null and ("belay"."workflow_steps"."undo_of" in ('completed', 'failed', 'skipped', 'cancelled'))
    when 'waiting' then "belay"."workflow_steps"."open_dependencies" = 0 and "belay"."workflow_steps"."worker_id" is null and "belay"."workflow_steps"."waiting_since" is not null and "belay"."workflow_steps"."undo_of" is null
    when 'failed' then "belay"."workflow_steps"."finished_at" is not null and "belay"."workflow_steps"."undo_of" is null
    when 'skipped' then "belay"."workflow_steps"."undo_of" is null
    when 'cancelled' then "belay"."workflow_steps"."undo_of" is null
    when 'compensation_failed' then "belay"."workflow_steps"."undo_of" is not null and ("belay"."workflow_steps"."undo_of" in ('completed', 'failed', 'skipped', 'cancelled'))
    else false end);--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag) VALUES ('0003_one_check_per_status');
`,
  },
  {
    tag: '0004_lease_journal_and_held_steps',
    hash: 'c4f0a19fa2d3284da9445100c53ec5d914ffa44f4e30dc5a2fcc2fd014564844',
    sql: `CREATE TABLE "belay"."workflow_leases" (
	"worker_id" uuid NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "belay"."workflow_leases_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_ids" uuid[] NOT NULL,
	CONSTRAINT "workflow_leases_pkey" PRIMARY KEY("worker_id","id")
);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" DROP CONSTRAINT "workflow_steps_fits_status";--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "begun" boolean;--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" ADD COLUMN "journaled" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" ADD COLUMN "journaled_through" uuid;--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" ADD COLUMN "known" integer;--> statement-breakpoint
-- Not validated: it allows more than the one it replaces, so every row has it already, and nobody waits while all steps are read.
ALTER TABLE "belay"."workflow_steps" ADD CONSTRAINT "workflow_steps_fits_status" CHECK (case "belay"."workflow_steps"."status"
    when 'running' then "belay"."workflow_steps"."open_dependencies" = 0 and "belay"."workflow_steps"."worker_id" is not null and "belay"."workflow_steps"."started_at" is not null and "belay"."workflow_steps"."undo_of" is null
    when 'pending' then "belay"."workflow_steps"."open_dependencies" > 0 and "belay"."workflow_steps"."undo_of" is null
    when 'ready' then "belay"."workflow_steps"."worker_id" is null and "belay"."workflow_steps"."undo_of" is null
    when 'completed' then "belay"."workflow_steps"."open_dependencies" = 0 and "belay"."workflow_steps"."finished_at" is not null and "belay"."workflow_steps"."undo_of" is null
    when 'compensating' then "belay"."workflow_steps"."undo_of" is not null and ("belay"."workflow_steps"."undo_of" in ('completed', 'failed', 'skipped', 'cancelled'))
    when 'compensated' then "belay"."workflow_steps"."finished_at" is not null and "belay"."workflow_steps"."undo_of" is not null and ("belay"."workflow_steps"."undo_of" in ('completed', 'failed', 'skipped', 'cancelled'))
    when 'waiting' then "belay"."workflow_steps"."worker_id" is null and "belay"."workflow_steps"."waiting_since" is not null and "belay"."workflow_steps"."undo_of" is null
    when 'failed' then "belay"."workflow_steps"."finished_at" is not null and "belay"."workflow_steps"."undo_of" is null
    when 'skipped' then "belay"."workflow_steps"."undo_of" is null
    when 'cancelled' then "belay"."workflow_steps"."undo_of" is null
    when 'compensation_failed' then "belay"."workflow_steps"."undo_of" is not null and ("belay"."workflow_steps"."undo_of" in ('completed', 'failed', 'skipped', 'cancelled'))
    else false end) NOT VALID;--> statement-breakpoint
-- Lives by inserts and deletes, as the queue does.
ALTER TABLE "belay"."workflow_leases" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag) VALUES ('0004_lease_journal_and_held_steps');
`,
  },
  {
    tag: '0005_rounds_undo_columns_and_tags',
    hash: '34e96224f93547c0b00c09d37bb1af6a095722c0b33ae5a3e609250411559b59',
    sql: `-- Stops older code: it renames the columns that fence attempts.
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
`,
  },
  {
    tag: '0006_published_values',
    hash: '1310e310404f36568ab7d72aa220798dc5b7472acea1916266ab2fbe6f8ab2d3',
    sql: `-- What steps tell while they run. A new table only: code of the release before does not know it, and runs on.
CREATE TABLE "belay"."workflow_values" (
	"run_id" uuid NOT NULL,
	"step" integer NOT NULL,
	"fence" integer NOT NULL,
	"sequence" integer NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"key" text NOT NULL,
	"value" json NOT NULL,
	CONSTRAINT "workflow_values_pkey" PRIMARY KEY("run_id","step","key")
);--> statement-breakpoint
-- Progress is written again and again: half-empty pages let an updated row stay on its page.
ALTER TABLE "belay"."workflow_values" SET (fillfactor = 50);--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0006_published_values', 5);
`,
  },
  {
    tag: '0007_branches',
    hash: '765faf625a114f73750bc3e45f7002513914ed3b2e34aea44483b899563befa6',
    sql: `ALTER TABLE "belay"."workflow_steps" ADD COLUMN "branch" json;--> statement-breakpoint
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
`,
  },
  {
    tag: '0008_items_of_maps',
    hash: 'fac7dde62c6c790d66d5e9a7662b67cee3552a32a7f9f0aab7edc8757502cc25',
    sql: `ALTER TABLE "belay"."workflow_steps" ADD COLUMN "item_key" text;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "item" json;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "at_once" integer;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "next_item" integer;--> statement-breakpoint
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
  s.item
FROM "belay"."workflow_steps" s
JOIN "belay"."workflow_runs" r ON r.id = s.run_id
JOIN "belay"."workflow_definition_steps" ds ON ds.definition_id = r.definition_id AND ds.step = CASE WHEN s.step < 65536 THEN s.step ELSE (s.step >> 16) - 1 END
LEFT JOIN "belay"."workflow_workers" w ON w.id = s.worker_id;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0008_items_of_maps', 5);
`,
  },
  {
    tag: '0009_ends_of_runs',
    hash: '1d66322270c12c2b872ae7ab30e767d7911880b27919f58702076d00ae6563c5',
    sql: `-- Ends of runs that somebody waits for, and which run a run was started for. New tables, columns that may be null, and a trigger that does nothing for
-- runs of the release before.
CREATE TABLE "belay"."workflow_children" (
	"parent_run_id" uuid NOT NULL,
	"run_id" uuid NOT NULL,
	CONSTRAINT "workflow_children_pkey" PRIMARY KEY("parent_run_id","run_id")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_run_ends" (
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "belay"."workflow_run_ends_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" uuid NOT NULL,
	"definition_id" integer NOT NULL,
	"status" text NOT NULL,
	CONSTRAINT "workflow_run_ends_pkey" PRIMARY KEY("definition_id","sequence"),
	CONSTRAINT "workflow_run_ends_status_allowed" CHECK (("belay"."workflow_run_ends"."status" in ('completed', 'failed', 'compensated', 'cancelled')))
);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "parent_run_id" uuid;--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "parent_step" integer;--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "reports_end" boolean;--> statement-breakpoint
CREATE INDEX "workflow_run_ends_run_idx" ON "belay"."workflow_run_ends" USING btree ("run_id");
--> statement-breakpoint
-- Whatever ends a run that reports its ends leaves a row here, in the same commit.
CREATE FUNCTION "belay"."report_run_end"() RETURNS trigger
LANGUAGE plpgsql
AS $$
begin
  insert into "belay"."workflow_run_ends" (run_id, definition_id, status) values (new.id, new.definition_id, new.status);
  return null;
end
$$;
--> statement-breakpoint
CREATE TRIGGER workflow_runs_report_end AFTER UPDATE OF status ON "belay"."workflow_runs"
FOR EACH ROW WHEN (new.reports_end AND new.finished_at IS NOT NULL AND old.finished_at IS NULL)
EXECUTE FUNCTION "belay"."report_run_end"();
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
    ELSE "belay"."shown_status"(r.id, r.status, r.start_at) END AS shown_status,
  r.parent_run_id,
  r.parent_step
FROM "belay"."workflow_runs" r
JOIN "belay"."workflow_definitions" d ON d.id = r.definition_id;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0009_ends_of_runs', 5);
`,
  },
  {
    tag: '0010_pivots',
    hash: '385cf9aa019c5b5d07b50a5d7ad0a765a15d67bd9d050503b8d05518eb04cf55',
    sql: `ALTER TABLE "belay"."workflow_definitions" ADD COLUMN "pivots" integer[];--> statement-breakpoint
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
`,
  },
  {
    tag: '0011_ranges_of_items',
    hash: '4057d3ed8dc786314d0437cacf48f91ad57a3af0c407bc0dd5db0e4ce85d3fcf',
    sql: `-- One row of the queue for many items of a map. A new table and a view.
CREATE TABLE "belay"."workflow_ready_items" (
	"available_at" timestamp with time zone NOT NULL,
	"definition_id" integer NOT NULL,
	"step" integer NOT NULL,
	"items" integer NOT NULL,
	"fence" integer NOT NULL,
	"run_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE INDEX "workflow_ready_items_due_idx" ON "belay"."workflow_ready_items" USING btree ("definition_id","available_at","run_id","step");
--> statement-breakpoint
-- As for the queue: claims walk over every dead row that is left lying.
ALTER TABLE "belay"."workflow_ready_items" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
--> statement-breakpoint
-- Everything that is queued, one row for each step.
CREATE VIEW "belay"."workflow_queue_overview" AS
SELECT q.available_at, q.definition_id, q.step, q.fence, q.run_id
FROM "belay"."workflow_ready" q
UNION ALL
SELECT q.available_at, q.definition_id, q.step + n.number, q.fence, q.run_id
FROM "belay"."workflow_ready_items" q
CROSS JOIN LATERAL generate_series(0, q.items - 1) AS n (number);
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0011_ranges_of_items', 5);
`,
  },
  {
    tag: '0012_order_of_items',
    hash: 'b984ac50f48e3b0c91d4dcee90a8b3f9d62cebda351b8433ef0141f6f2efb343',
    sql: `-- Which items of a map wait for their turn, if an operator's action left others between them that have ended.
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "item_order" integer[];
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0012_order_of_items', 5);
`,
  },
  {
    tag: '0013_limits',
    hash: 'da63325f3c3680664b3730f99912cfc15b54a678b5a1855342794d564fd02672',
    sql: `-- Limits of concurrency by key. New tables, functions and a view.
CREATE TABLE "belay"."workflow_limit_keys" (
	"turn" bigint NOT NULL,
	"limit_name" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	CONSTRAINT "workflow_limit_keys_pkey" PRIMARY KEY("limit_name","key")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_limit_slots" (
	"run_id" uuid NOT NULL,
	"step" integer NOT NULL,
	"fence" integer NOT NULL,
	"definition_id" integer NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"is_given" boolean NOT NULL,
	"limit_name" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	CONSTRAINT "workflow_limit_slots_pkey" PRIMARY KEY("limit_name","key","run_id","step")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_limit_waiters" (
	"run_id" uuid NOT NULL,
	"step" integer NOT NULL,
	"fence" integer NOT NULL,
	"place" bigint GENERATED BY DEFAULT AS IDENTITY (sequence name "belay"."workflow_limit_waiters_place_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"since" timestamp with time zone NOT NULL,
	"limit_name" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"limits" text[] NOT NULL,
	"keys" text[] NOT NULL,
	"of_run" boolean[] NOT NULL,
	CONSTRAINT "workflow_limit_waiters_pkey" PRIMARY KEY("run_id","step"),
	CONSTRAINT "workflow_limit_waiters_line" UNIQUE("limit_name","key","place")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_limits" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"declared" integer,
	"set_to" integer,
	CONSTRAINT "workflow_limits_counted" CHECK (coalesce("belay"."workflow_limits"."set_to", "belay"."workflow_limits"."declared") >= 0 and coalesce("belay"."workflow_limits"."declared", "belay"."workflow_limits"."set_to") >= 0)
);
--> statement-breakpoint
CREATE INDEX "workflow_limit_slots_holder_idx" ON "belay"."workflow_limit_slots" USING btree ("run_id","step");
--> statement-breakpoint
-- Rows of these tables live for moments.
ALTER TABLE "belay"."workflow_limit_keys" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_limit_slots" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_limit_waiters" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
-- Everything about a key is decided under the lock of its row. Each of these functions first locks and then looks: its statements have a snapshot
-- each, so what it sees is from after the lock. A single statement would see what was there before it waited.
CREATE FUNCTION "belay"."limit_room"(wanted_limit text, wanted_key text) RETURNS bigint
LANGUAGE sql
AS $$
  select coalesce((select coalesce(l.set_to, l.declared)::bigint from "belay"."workflow_limits" l where l.name = wanted_limit), 2147483647)
    - (select count(*) from "belay"."workflow_limit_slots" s where s.limit_name = wanted_limit and s.key = wanted_key)
$$;
--> statement-breakpoint
CREATE FUNCTION "belay"."lock_limit_keys"(wanted_limits text[], wanted_keys text[]) RETURNS void
LANGUAGE plpgsql
AS $$
declare
  wanted int;
  locked int;
begin
  select count(*) into wanted from (select distinct w.limit_name, w.key from unnest(wanted_limits, wanted_keys) as w (limit_name, key)) d;
  -- Whoever was here before may have removed a key that nobody needed any more.
  loop
    insert into "belay"."workflow_limit_keys" (turn, limit_name, key)
    select distinct 0, w.limit_name collate "C", w.key collate "C" from unnest(wanted_limits, wanted_keys) as w (limit_name, key)
    order by 2, 3
    on conflict do nothing;
    perform from "belay"."workflow_limit_keys" k
    where (k.limit_name, k.key) in (select w.limit_name, w.key from unnest(wanted_limits, wanted_keys) as w (limit_name, key))
    order by k.limit_name, k.key
    for update;
    get diagnostics locked = row_count;
    exit when locked = wanted;
  end loop;
  update "belay"."workflow_limit_keys" k set turn = k.turn + 1
  where (k.limit_name, k.key) in (select w.limit_name, w.key from unnest(wanted_limits, wanted_keys) as w (limit_name, key));
end
$$;
--> statement-breakpoint
CREATE FUNCTION "belay"."enter_limits"(
  entering_worker uuid, run_ids uuid[], steps int[], fences int[], definition_ids int[],
  entry_attempts int[], entry_limits text[], entry_keys text[], entry_of_run bool[]
) RETURNS TABLE ("position" int, "result" text)
LANGUAGE plpgsql
SET lock_timeout = '500ms' SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
declare
  held int[];
  -- Of each entry, ordered by attempt and line: its attempt, its line, its slot, and whether that is of the run.
  attempts int[];
  lines int[];
  slots int[];
  of_run bool[];
  -- Of each slot whether it is taken by the one that asks; of each line how many are free.
  taken bool[];
  rooms bigint[];
  places bigint[];
  sinces timestamptz[];
  entered int[] := '{}';
  parked int[] := '{}';
  parked_in int[] := '{}';
  first_entry int := 1;
  next_entry int;
  missing int;
begin
  held := array(
    select a.position::int
    from unnest(run_ids, steps, fences) with ordinality as a (run_id, step, fence, position)
    join "belay"."workflow_steps" s on s.run_id = a.run_id and s.step = a.step
    where s.fence = a.fence and s.worker_id = entering_worker and s.status = 'running'
    order by s.run_id, s.step
    for update of s
  );
  perform "belay"."lock_limit_keys"(
    array(select e.l from unnest(entry_attempts, entry_limits) as e (attempt, l) where e.attempt = any (held)),
    array(select e.k from unnest(entry_attempts, entry_keys) as e (attempt, k) where e.attempt = any (held))
  );
  -- A step that stands in a line, because its run was resumed, keeps its place.
  with returned as (
    delete from "belay"."workflow_limit_waiters" w
    using unnest(run_ids, steps) with ordinality as a (run_id, step, position)
    where w.run_id = a.run_id and w.step = a.step and a.position = any (held)
    returning a.position, w.place, w.since
  )
  select array_agg(r.place order by a.position), array_agg(r.since order by a.position) into places, sinces
  from generate_subscripts(run_ids, 1) as a (position) left join returned r on r.position = a.position;
  -- Slots of keys that the step had when it was given them, and has no more.
  delete from "belay"."workflow_limit_slots" s
  using unnest(run_ids, steps) with ordinality as a (run_id, step, position)
  where s.run_id = a.run_id and s.step = a.step and a.position = any (held)
    and not exists (
      select from unnest(entry_attempts, entry_limits, entry_keys, entry_of_run) as e (attempt, l, k, r)
      where e.attempt = a.position and e.l = s.limit_name and e.k = s.key and not e.r
    );
  with entries as materialized (
    select e.attempt, e.l, e.k, e.r, a.run_id, case when e.r then -1 else a.step end as holder,
      dense_rank() over (order by e.l collate "C", e.k collate "C") as line,
      dense_rank() over (order by e.l collate "C", e.k collate "C", a.run_id, case when e.r then -1 else a.step end) as slot
    from unnest(entry_attempts, entry_limits, entry_keys, entry_of_run) as e (attempt, l, k, r)
    join unnest(run_ids, steps) with ordinality as a (run_id, step, position) on a.position = e.attempt
    where e.attempt = any (held)
  )
  select array_agg(e.attempt order by e.attempt, e.line), array_agg(e.line order by e.attempt, e.line), array_agg(e.slot order by e.attempt, e.line),
    array_agg(e.r order by e.attempt, e.line),
    (select array_agg(t.is_taken order by t.slot) from (
      select d.slot, exists (
        select from "belay"."workflow_limit_slots" s where s.limit_name = d.l and s.key = d.k and s.run_id = d.run_id and s.step = d.holder
      ) as is_taken
      from (select distinct on (o.slot) o.* from entries o order by o.slot) d
    ) t),
    (select array_agg(r.room order by r.line) from (
      select d.line, case when exists (select from "belay"."workflow_limit_waiters" w where w.limit_name = d.l and w.key = d.k) then 0
        else "belay"."limit_room"(d.l, d.k) end as room
      from (select distinct on (o.line) o.* from entries o order by o.line) d
    ) r)
  into attempts, lines, slots, of_run, taken, rooms
  from entries e;
  -- One after another: all the slots that an attempt needs, or none.
  while first_entry <= coalesce(cardinality(attempts), 0) loop
    next_entry := first_entry;
    missing := null;
    while next_entry <= cardinality(attempts) and attempts[next_entry] = attempts[first_entry] loop
      if missing is null and not taken[slots[next_entry]] and rooms[lines[next_entry]] <= 0 then
        missing := next_entry;
      end if;
      next_entry := next_entry + 1;
    end loop;
    for entry in first_entry .. next_entry - 1 loop
      if missing is null and not taken[slots[entry]] then
        taken[slots[entry]] := true;
        rooms[lines[entry]] := rooms[lines[entry]] - 1;
      elsif missing is not null and taken[slots[entry]] and not of_run[entry] then
        -- Whoever waits for one limit holds nothing of another.
        taken[slots[entry]] := false;
        rooms[lines[entry]] := rooms[lines[entry]] + 1;
      end if;
    end loop;
    if missing is null then
      entered := entered || attempts[first_entry];
    else
      parked := parked || attempts[first_entry];
      parked_in := parked_in || missing;
      -- Whoever comes next stands behind it.
      rooms[lines[missing]] := 0;
    end if;
    first_entry := next_entry;
  end loop;
  delete from "belay"."workflow_limit_slots" s
  using unnest(parked) as p (position)
  where s.run_id = run_ids[p.position] and s.step = steps[p.position];
  insert into "belay"."workflow_limit_slots" (run_id, step, fence, definition_id, since, is_given, limit_name, key)
  select distinct on (e.l, e.k, a.run_id, holder) a.run_id, h.holder, case when e.r then 0 else a.fence end, a.definition_id, "belay"."store_now"(), false, e.l, e.k
  from unnest(run_ids, steps, fences, definition_ids) with ordinality as a (run_id, step, fence, definition_id, position)
  join unnest(entry_attempts, entry_limits, entry_keys, entry_of_run) as e (attempt, l, k, r) on e.attempt = a.position
  cross join lateral (select case when e.r then -1 else a.step end as holder) h
  where a.position = any (entered)
  on conflict (limit_name, key, run_id, step) do update set fence = excluded.fence, is_given = false;
  insert into "belay"."workflow_limit_waiters" (run_id, step, fence, place, since, limit_name, key, limits, keys, of_run)
  select run_ids[p.position], steps[p.position], fences[p.position],
    coalesce(places[p.position], nextval(pg_get_serial_sequence('"belay"."workflow_limit_waiters"', 'place'))), coalesce(sinces[p.position], "belay"."store_now"()),
    o.limits[p.entry], o.keys[p.entry], o.limits, o.keys, o.of_run
  from (
    select d.position, row_number() over (order by d.nth) as nth, d.line_entry as entry
    from (
      select p.position, p.nth, 1 + parked_in[p.nth] - min(i.entry) as line_entry
      from unnest(parked) with ordinality as p (position, nth)
      join (select a.attempt, a.entry from unnest(attempts) with ordinality as a (attempt, entry)) i on i.attempt = p.position
      group by p.position, p.nth
    ) d
  ) p
  cross join lateral (
    select array_agg(e.l order by e.l collate "C", e.k collate "C") as limits, array_agg(e.k order by e.l collate "C", e.k collate "C") as keys,
      array_agg(e.r order by e.l collate "C", e.k collate "C") as of_run
    from unnest(entry_attempts, entry_limits, entry_keys, entry_of_run) as e (attempt, l, k, r)
    where e.attempt = p.position
  ) o
  order by p.nth;
  -- As after a release, but in no queue.
  update "belay"."workflow_steps" s
  set status = 'ready', worker_id = null, finished_at = "belay"."store_now"(), available_at = "belay"."store_now"(),
    attempts = coalesce(s.attempts, s.fence % 40000000) - 1,
    begun = case when s.begun then true when s.fence = 1 then false else s.begun end
  from unnest(parked) as p (position)
  where s.run_id = run_ids[p.position] and s.step = steps[p.position];
  return query
  select p.position, 'settled'::text from unnest(entered) as p (position)
  union all
  select p.position, 'parked' from unnest(parked) as p (position)
  union all
  -- Parked by an earlier call whose answer was lost.
  select a.position::int, 'parked'
  from unnest(run_ids, steps, fences) with ordinality as a (run_id, step, fence, position)
  join "belay"."workflow_steps" s on s.run_id = a.run_id and s.step = a.step
  where not a.position = any (held) and s.fence = a.fence and s.status = 'ready' and s.worker_id is null;
end
$$;
--> statement-breakpoint
-- Gives a parked step all of its slots, and queues it; or moves it to the line of the one that is missing. Only under the locks of these keys.
CREATE FUNCTION "belay"."give_limit_slots"(waiting_run uuid, waiting_step int, locked_limits text[], locked_keys text[]) RETURNS boolean
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
declare
  waiter record;
  begun record;
  sibling record;
  gives_run bool := false;
begin
  select * into waiter from "belay"."workflow_limit_waiters" w where w.run_id = waiting_run and w.step = waiting_step;
  if not found then return false; end if;
  select r.definition_id, greatest(r.created_at, r.start_at) as began into begun
  from "belay"."workflow_steps" s join "belay"."workflow_runs" r on r.id = s.run_id
  where s.run_id = waiting_run and s.step = waiting_step and s.fence = waiter.fence and s.status = 'ready' and s.open_dependencies = 0
    and r.status = 'running';
  if not found then
    delete from "belay"."workflow_limit_waiters" w where w.run_id = waiting_run and w.step = waiting_step;
    return false;
  end if;
  for i in 1 .. cardinality(waiter.limits) loop
    continue when exists (
      select from "belay"."workflow_limit_slots" s where s.limit_name = waiter.limits[i] and s.key = waiter.keys[i] and s.run_id = waiting_run
        and s.step = case when waiter.of_run[i] then -1 else waiting_step end
    );
    -- Another step of this line came after the keys were locked: whoever tends the limits finds it.
    if not exists (select from unnest(locked_limits, locked_keys) as l (limit_name, key) where l.limit_name = waiter.limits[i] and l.key = waiter.keys[i]) then
      return false;
    end if;
    if "belay"."limit_room"(waiter.limits[i], waiter.keys[i]) <= 0 then
      update "belay"."workflow_limit_waiters" w set limit_name = waiter.limits[i], key = waiter.keys[i]
      where w.run_id = waiting_run and w.step = waiting_step;
      return false;
    end if;
    gives_run := gives_run or waiter.of_run[i];
  end loop;
  insert into "belay"."workflow_limit_slots" (run_id, step, fence, definition_id, since, is_given, limit_name, key)
  select waiting_run, case when e.r then -1 else waiting_step end, case when e.r then 0 else waiter.fence end, begun.definition_id,
    "belay"."store_now"(), true, e.l, e.k
  from unnest(waiter.limits, waiter.keys, waiter.of_run) as e (l, k, r)
  on conflict do nothing;
  delete from "belay"."workflow_limit_waiters" w where w.run_id = waiting_run and w.step = waiting_step;
  -- Where its run began: it has waited for longer than what has come since.
  insert into "belay"."workflow_ready" (available_at, definition_id, step, fence, run_id)
  values (begun.began, begun.definition_id, waiting_step, waiter.fence, waiting_run);
  if gives_run then
    for sibling in select w.step from "belay"."workflow_limit_waiters" w where w.run_id = waiting_run order by w.step loop
      perform "belay"."give_limit_slots"(waiting_run, sibling.step, locked_limits, locked_keys);
    end loop;
  end if;
  return true;
end
$$;
--> statement-breakpoint
-- Gives free slots of these lines to the steps that wait in them, and removes keys that nobody needs. Only under the locks of these keys.
CREATE FUNCTION "belay"."hand_over_limits"(free_limits text[], free_keys text[], locked_limits text[], locked_keys text[]) RETURNS boolean
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
declare
  line record;
  waiter record;
  queued bool := false;
begin
  for line in
    select distinct f.limit_name collate "C" as limit_name, f.key collate "C" as key from unnest(free_limits, free_keys) as f (limit_name, key) order by 1, 2
  loop
    for waiter in
      select w.run_id, w.step from "belay"."workflow_limit_waiters" w
      where w.limit_name = line.limit_name and w.key = line.key
      order by w.place
      limit 1000
    loop
      exit when "belay"."limit_room"(line.limit_name, line.key) <= 0;
      if "belay"."give_limit_slots"(waiter.run_id, waiter.step, locked_limits, locked_keys) then queued := true; end if;
    end loop;
  end loop;
  delete from "belay"."workflow_limit_keys" k
  using unnest(locked_limits, locked_keys) as l (limit_name, key)
  where k.limit_name = l.limit_name and k.key = l.key
    and not exists (select from "belay"."workflow_limit_slots" s where s.limit_name = k.limit_name and s.key = k.key)
    and not exists (select from "belay"."workflow_limit_waiters" w where w.limit_name = k.limit_name and w.key = k.key);
  return queued;
end
$$;
--> statement-breakpoint
-- Locks these keys, and those of which the steps at the head of these lines need a slot too.
CREATE FUNCTION "belay"."lock_limit_lines"(INOUT locked_limits text[], INOUT locked_keys text[])
LANGUAGE plpgsql
AS $$
begin
  with lines as materialized (
    select distinct l.limit_name, l.key from unnest(locked_limits, locked_keys) as l (limit_name, key)
  ), needed as (
    select l.limit_name, l.key from lines l
    union
    select n.limit_name, n.key
    from lines l
    cross join lateral (
      select w.limits, w.keys from "belay"."workflow_limit_waiters" w
      where w.limit_name = l.limit_name and w.key = l.key
      order by w.place
      limit 20
    ) w
    cross join lateral unnest(w.limits, w.keys) as n (limit_name, key)
    where cardinality(w.limits) > 1
  )
  select array_agg(n.limit_name), array_agg(n.key) into locked_limits, locked_keys from needed n;
  perform "belay"."lock_limit_keys"(locked_limits, locked_keys);
end
$$;
--> statement-breakpoint
CREATE FUNCTION "belay"."over_limit_slots"(run_ids uuid[], steps int[], fences int[])
RETURNS TABLE ("limit_name" text, "key" text, "run_id" uuid, "step" int)
LANGUAGE sql
AS $$
  select s.limit_name, s.key, s.run_id, s.step
  from unnest(run_ids, steps, fences) as a (run_id, step, fence)
  join "belay"."workflow_limit_slots" s on s.run_id = a.run_id and s.step = a.step
  where s.fence = a.fence and not s.is_given
    and not exists (
      select from "belay"."workflow_steps" t where t.run_id = a.run_id and t.step = a.step and t.fence = a.fence and t.status = 'running'
    )
  union
  select s.limit_name, s.key, s.run_id, s.step
  from unnest(run_ids) as a (run_id)
  join "belay"."workflow_limit_slots" s on s.run_id = a.run_id and s.step = -1
  where not exists (select from "belay"."workflow_runs" r where r.id = a.run_id and r.finished_at is null)
$$;
--> statement-breakpoint
-- Frees the slots of attempts that are over, and of their runs that have ended. Returns whether steps were queued.
CREATE FUNCTION "belay"."free_limits"(run_ids uuid[], steps int[], fences int[]) RETURNS boolean
LANGUAGE plpgsql
SET lock_timeout = '500ms' SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
declare
  freed_limits text[];
  freed_keys text[];
  locked record;
begin
  select array_agg(o.limit_name), array_agg(o.key) into freed_limits, freed_keys
  from "belay"."over_limit_slots"(run_ids, steps, fences) o;
  if freed_limits is null then return false; end if;
  select * into locked from "belay"."lock_limit_lines"(freed_limits, freed_keys);
  delete from "belay"."workflow_limit_slots" s
  using "belay"."over_limit_slots"(run_ids, steps, fences) o
  where s.limit_name = o.limit_name and s.key = o.key and s.run_id = o.run_id and s.step = o.step;
  return "belay"."hand_over_limits"(freed_limits, freed_keys, locked.locked_limits, locked.locked_keys);
end
$$;
--> statement-breakpoint
-- The slots that nobody holds any more.
CREATE FUNCTION "belay"."void_limit_slots"(unclaimed_ms double precision)
RETURNS TABLE ("limit_name" text, "key" text, "run_id" uuid, "step" int)
LANGUAGE sql
AS $$
  select s.limit_name, s.key, s.run_id, s.step
  from "belay"."workflow_limit_slots" s
  left join "belay"."workflow_runs" r on r.id = s.run_id
  left join "belay"."workflow_steps" t on t.run_id = s.run_id and t.step = s.step
  where r.id is null
    or (s.is_given and s.since < "belay"."store_now"() - unclaimed_ms * interval '1 millisecond' and not exists (
      select from "belay"."workflow_workers" w
      where w.status = 'live' and (w.definition_ids is null or s.definition_id = any (w.definition_ids))
    ))
    or case when s.step = -1 then r.finished_at is not null
      when t.run_id is null then true
      when s.is_given then r.status <> 'running' or t.status not in ('ready', 'running')
      else t.status <> 'running' or t.fence <> s.fence end
$$;
--> statement-breakpoint
-- Frees void slots, and gives free slots of the lines after this one to the steps that wait in them. Returns the last line it looked at, if there may be
-- more.
CREATE FUNCTION "belay"."tend_limits"(after_limit text, after_key text, lines_max int, unclaimed_ms double precision)
RETURNS TABLE ("queued" boolean, "limit_name" text, "key" text)
LANGUAGE plpgsql
SET lock_timeout = '500ms' SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
declare
  line_limits text[];
  line_keys text[];
  free_limits text[];
  free_keys text[];
  locked record;
  is_queued bool := false;
begin
  with recursive lines as (
    (
      select w.limit_name, w.key, 1 as nth from "belay"."workflow_limit_waiters" w
      where (w.limit_name, w.key) > (coalesce(after_limit, ''), coalesce(after_key, ''))
      order by w.limit_name, w.key
      limit 1
    )
    union all
    select n.limit_name, n.key, l.nth + 1
    from lines l
    cross join lateral (
      select w.limit_name, w.key from "belay"."workflow_limit_waiters" w
      where (w.limit_name, w.key) > (l.limit_name, l.key)
      order by w.limit_name, w.key
      limit 1
    ) n
    where l.nth < lines_max
  )
  select array_agg(l.limit_name order by l.nth), array_agg(l.key order by l.nth) into line_limits, line_keys from lines l;
  select array_agg(f.limit_name), array_agg(f.key) into free_limits, free_keys
  from (
    select v.limit_name, v.key from "belay"."void_limit_slots"(unclaimed_ms) v
    union
    select l.limit_name, l.key from unnest(line_limits, line_keys) as l (limit_name, key) where "belay"."limit_room"(l.limit_name, l.key) > 0
  ) f;
  if free_limits is not null then
    select * into locked from "belay"."lock_limit_lines"(free_limits, free_keys);
    delete from "belay"."workflow_limit_slots" s
    using "belay"."void_limit_slots"(unclaimed_ms) v
    where s.limit_name = v.limit_name and s.key = v.key and s.run_id = v.run_id and s.step = v.step
      and exists (
        select from unnest(locked.locked_limits, locked.locked_keys) as l (limit_name, key) where l.limit_name = s.limit_name and l.key = s.key
      );
    is_queued := "belay"."hand_over_limits"(free_limits, free_keys, locked.locked_limits, locked.locked_keys);
  end if;
  if coalesce(cardinality(line_limits), 0) < lines_max then
    return query select is_queued, null::text, null::text;
  else
    return query select is_queued, line_limits[lines_max], line_keys[lines_max];
  end if;
end
$$;
--> statement-breakpoint
-- Sets how many slots each key of a limit has, and gives those that are more to steps that wait.
CREATE FUNCTION "belay"."set_limit"(limit_to_set text, slots int, lines_max int) RETURNS boolean
LANGUAGE plpgsql
SET lock_timeout = '5s' SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
declare
  free_limits text[];
  free_keys text[];
  locked record;
begin
  if slots is null then
    delete from "belay"."workflow_limits" l where l.name = limit_to_set and l.declared is null;
    update "belay"."workflow_limits" l set set_to = null where l.name = limit_to_set;
  else
    insert into "belay"."workflow_limits" (name, set_to) values (limit_to_set, slots)
    on conflict (name) do update set set_to = excluded.set_to;
  end if;
  with recursive lines as (
    (
      select w.key, 1 as nth from "belay"."workflow_limit_waiters" w
      where w.limit_name = limit_to_set
      order by w.key
      limit 1
    )
    union all
    select n.key, l.nth + 1
    from lines l
    cross join lateral (
      select w.key from "belay"."workflow_limit_waiters" w
      where w.limit_name = limit_to_set and w.key > l.key
      order by w.key
      limit 1
    ) n
    where l.nth < lines_max
  )
  select array_agg(limit_to_set), array_agg(l.key) into free_limits, free_keys from lines l where "belay"."limit_room"(limit_to_set, l.key) > 0;
  if free_limits is null then return false; end if;
  select * into locked from "belay"."lock_limit_lines"(free_limits, free_keys);
  return "belay"."hand_over_limits"(free_limits, free_keys, locked.locked_limits, locked.locked_keys);
end
$$;
--> statement-breakpoint
-- Limits, how far they are used, and how many steps wait for them.
CREATE VIEW "belay"."workflow_limits_overview" AS
SELECT
  k.limit_name,
  k.key,
  coalesce(l.set_to, l.declared) AS concurrency,
  l.declared,
  l.set_to,
  (SELECT count(*) FROM "belay"."workflow_limit_slots" s WHERE s.limit_name = k.limit_name AND s.key = k.key) AS in_use,
  (SELECT count(*) FROM "belay"."workflow_limit_waiters" w WHERE w.limit_name = k.limit_name AND w.key = k.key) AS waiting,
  (SELECT min(w.since) FROM "belay"."workflow_limit_waiters" w WHERE w.limit_name = k.limit_name AND w.key = k.key) AS waiting_since
FROM "belay"."workflow_limit_keys" k
LEFT JOIN "belay"."workflow_limits" l ON l.name = k.limit_name;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0013_limits', 5);
`,
  },
]
