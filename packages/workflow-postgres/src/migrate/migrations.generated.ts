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
    tag: '0013_priorities',
    hash: 'f84be7b81db534f55dba66a9852b1d9410d1ab3d6a9c3969cb12587459191547',
    sql: `-- Priorities of runs and steps, null for 0. A new table, two columns that no row has yet, and two more columns of a view.
CREATE TABLE "belay"."workflow_ready_late" (
	"due_at" timestamp with time zone NOT NULL,
	"definition_id" integer NOT NULL,
	"step" integer NOT NULL,
	"fence" integer NOT NULL,
	"lead" integer NOT NULL,
	"run_id" uuid NOT NULL
);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "priority" integer;
--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "priority" integer;
--> statement-breakpoint
CREATE INDEX "workflow_ready_late_due_idx" ON "belay"."workflow_ready_late" USING btree ("due_at");
--> statement-breakpoint
-- \`available_at\` is the step's place: as many minutes before the time when it became ready as \`priority\` says, and of an undo 2,001.
CREATE OR REPLACE VIEW "belay"."workflow_queue_overview" AS
SELECT q.available_at, q.definition_id, q.step, q.fence, q.run_id, coalesce(s.priority, 0) AS priority, s.undo_of IS NOT NULL AS is_undo
FROM "belay"."workflow_ready" q
LEFT JOIN "belay"."workflow_steps" s ON s.run_id = q.run_id AND s.step = q.step
UNION ALL
SELECT q.available_at, q.definition_id, q.step + n.number, q.fence, q.run_id, coalesce(s.priority, 0), s.undo_of IS NOT NULL
FROM "belay"."workflow_ready_items" q
CROSS JOIN LATERAL generate_series(0, q.items - 1) AS n (number)
LEFT JOIN "belay"."workflow_steps" s ON s.run_id = q.run_id AND s.step = q.step + n.number;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0013_priorities', 5);
`,
  },
  {
    tag: '0014_collected_calls',
    hash: '0e046480b918bee83131334e2573c65a5476b27cde4afbe7ac91c1a6af72f16e',
    sql: `-- Calls of run() that are collected into runs. New tables.
CREATE TABLE "belay"."workflow_collected_calls" (
	"run_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"definition_id" integer NOT NULL,
	"call_id" uuid NOT NULL,
	"key" text NOT NULL,
	"input_hash" text,
	CONSTRAINT "workflow_collected_calls_pkey" PRIMARY KEY("run_id","position")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_collections" (
	"definition_id" integer NOT NULL,
	"calls" integer DEFAULT 0 NOT NULL,
	"input_bytes" integer DEFAULT 0 NOT NULL,
	"run_id" uuid,
	"opened_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"closes_at" timestamp with time zone,
	"mode" text,
	"key" text NOT NULL,
	CONSTRAINT "workflow_collections_pkey" PRIMARY KEY("definition_id","key"),
	CONSTRAINT "workflow_collections_mode_allowed" CHECK (("belay"."workflow_collections"."mode" in ('debounce', 'throttle', 'batch')))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "workflow_collected_calls_call_key" ON "belay"."workflow_collected_calls" USING btree ("call_id");
--> statement-breakpoint
-- Each call updates the row of its key, and no index: a page with room keeps the new version.
ALTER TABLE "belay"."workflow_collections" SET (fillfactor = 50);
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0014_collected_calls', 5);
`,
  },
  {
    tag: '0015_schedules',
    hash: 'a63532ca942afcfad85870e076ab6100d2ece56b47cc4ebceab1b1465e2752c0',
    sql: `CREATE TABLE "belay"."workflow_firings" (
	"schedule" text COLLATE "C" NOT NULL,
	"sequence" integer NOT NULL,
	"scheduled_at" timestamp with time zone NOT NULL,
	"until_at" timestamp with time zone,
	"decided_at" timestamp with time zone NOT NULL,
	"cause" text NOT NULL,
	"status" text NOT NULL,
	"run_id" uuid,
	"is_open" boolean NOT NULL,
	"reason" text,
	CONSTRAINT "workflow_firings_pkey" PRIMARY KEY("schedule","sequence"),
	CONSTRAINT "workflow_firings_status_allowed" CHECK (("belay"."workflow_firings"."status" in ('started', 'queued', 'skipped', 'missed', 'failed')))
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_schedules" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workflow" text NOT NULL,
	"declared" boolean NOT NULL,
	"revision" integer NOT NULL,
	"firings" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"paused_at" timestamp with time zone,
	"next_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"pause_reason" text,
	"spec" json NOT NULL,
	"input" json,
	CONSTRAINT "workflow_schedules_paused_is_not_due" CHECK ("belay"."workflow_schedules"."paused_at" is null or "belay"."workflow_schedules"."due_at" is null)
);
--> statement-breakpoint
CREATE INDEX "workflow_firings_open_idx" ON "belay"."workflow_firings" USING btree ("schedule","sequence") WHERE "belay"."workflow_firings"."is_open";--> statement-breakpoint
CREATE INDEX "workflow_firings_failed_idx" ON "belay"."workflow_firings" USING btree ("schedule","sequence") WHERE "belay"."workflow_firings"."status" = 'failed';--> statement-breakpoint
CREATE INDEX "workflow_schedules_due_idx" ON "belay"."workflow_schedules" USING btree ("due_at","name") WHERE "belay"."workflow_schedules"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "workflow_schedules_declared_idx" ON "belay"."workflow_schedules" USING btree ("name") WHERE "belay"."workflow_schedules"."declared";--> statement-breakpoint
CREATE INDEX "workflow_schedules_workflow_idx" ON "belay"."workflow_schedules" USING btree ("workflow","name");
--> statement-breakpoint
-- Schedules, with how their newest firing ended. For people: read it with a limit, or by name.
CREATE VIEW "belay"."workflow_schedules_overview" AS
SELECT
  s.name,
  s.workflow,
  s.spec ->> 'version' AS version,
  coalesce(s.spec -> 'timing' ->> 'cron', 'every ' || (s.spec -> 'timing' ->> 'everyMs') || ' ms') AS timing,
  s.spec -> 'timing' ->> 'timeZone' AS time_zone,
  s.spec ->> 'overlap' AS overlap,
  s.spec ->> 'catchUp' AS catch_up,
  CASE WHEN s.paused_at IS NOT NULL THEN 'paused' WHEN s.next_at IS NULL THEN 'ended' ELSE 'active' END AS status,
  s.pause_reason,
  s.declared,
  s.next_at,
  greatest("belay"."store_now"() - s.due_at, interval '0') AS late_by,
  s.firings,
  newest.scheduled_at AS last_scheduled_at,
  newest.status AS last_status,
  newest.run_id AS last_run_id,
  newest.reason AS last_reason,
  (SELECT count(*) FROM "belay"."workflow_firings" f WHERE f.is_open AND f.schedule = s.name AND f.status = 'queued')::int AS waiting
FROM "belay"."workflow_schedules" s
LEFT JOIN "belay"."workflow_firings" newest ON newest.schedule = s.name AND newest.sequence = s.firings;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0015_schedules', 5);
`,
  },
  {
    tag: '0016_limits',
    hash: 'cc005c3570bac0d5a2abab072462f4b8fcf3fc1379cf195d69d3f9a14f784a2e',
    sql: `-- Limits of concurrency by key. New tables, functions and a view.
CREATE TABLE "belay"."workflow_limit_keys" (
	"turn" bigint NOT NULL,
	"next_ms" double precision,
	"closed_ms" double precision,
	"kept_ms" double precision,
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
	"at_ms" double precision,
	"place" bigint,
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
	"declared_per_ms" double precision,
	"declared_burst" integer,
	"set_to" integer,
	"set_per_ms" double precision,
	"set_burst" integer,
	CONSTRAINT "workflow_limits_counted" CHECK (coalesce("belay"."workflow_limits"."set_to", "belay"."workflow_limits"."declared") >= 0 and coalesce("belay"."workflow_limits"."declared", "belay"."workflow_limits"."set_to") >= 0)
);
--> statement-breakpoint
CREATE INDEX "workflow_limit_slots_holder_idx" ON "belay"."workflow_limit_slots" USING btree ("run_id","step");
--> statement-breakpoint
CREATE INDEX "workflow_limit_keys_kept_idx" ON "belay"."workflow_limit_keys" USING btree ("kept_ms") WHERE "belay"."workflow_limit_keys"."kept_ms" is not null;
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
-- The time at this moment, not that of the statement: one that has waited for a key is older than what others did meanwhile.
CREATE FUNCTION "belay"."store_ms"() RETURNS double precision
LANGUAGE sql VOLATILE
AS $$ select (extract(epoch from "belay"."store_clock"())::numeric * 1000)::float8 $$;
--> statement-breakpoint
-- The numbers of a rate; no row for another limit. \`each_ms\` is the time from one begin to the next, rounded up to microseconds: null if it is paused.
CREATE FUNCTION "belay"."limit_rate"(wanted_limit text)
RETURNS TABLE ("per_ms" double precision, "burst" int, "each_ms" double precision)
LANGUAGE sql
AS $$
  select r.per_ms, r.burst, ceil(r.per_ms * 1000 / nullif(r.slots, 0)) / 1000
  from (
    select case when l.set_to is null then l.declared_per_ms else l.set_per_ms end as per_ms,
      case when l.set_to is null then l.declared_burst else l.set_burst end as burst, coalesce(l.set_to, l.declared) as slots
    from "belay"."workflow_limits" l where l.name = wanted_limit
  ) r
  where r.per_ms is not null
$$;
--> statement-breakpoint
-- When the next attempt of a key would begin if its rate had no burst. An instant that is further ahead than any that was given is from before a clock
-- went back.
CREATE FUNCTION "belay"."limit_next"(now_ms double precision, next_ms double precision, closed_ms double precision, each_ms double precision, burst int) RETURNS double precision
LANGUAGE sql IMMUTABLE
AS $$
  select greatest(now_ms, case when next_ms > n.open_ms + 1500 + (burst + 1) * each_ms then n.open_ms + burst * each_ms else next_ms end)
  from (select greatest(now_ms, closed_ms) as open_ms) n
$$;
--> statement-breakpoint
-- How many may enter up to so many milliseconds from now: slots that are free, or instants of a rate. Instants nearer than a microsecond are the same.
CREATE FUNCTION "belay"."limit_room"(wanted_limit text, wanted_key text, ahead_ms double precision) RETURNS bigint
LANGUAGE plpgsql
AS $$
declare
  rate record;
  kept record;
  left_ms double precision;
  now_ms double precision := "belay"."store_ms"();
begin
  select * into rate from "belay"."limit_rate"(wanted_limit) r;
  select k.next_ms, k.closed_ms into kept from "belay"."workflow_limit_keys" k where k.limit_name = wanted_limit and k.key = wanted_key;
  if rate.per_ms is null then
    if kept.closed_ms > now_ms then return 0; end if;
    return coalesce((select coalesce(l.set_to, l.declared)::bigint from "belay"."workflow_limits" l where l.name = wanted_limit), 2147483647)
      - (select count(*) from "belay"."workflow_limit_slots" s where s.limit_name = wanted_limit and s.key = wanted_key);
  end if;
  if rate.each_ms is null then return 0; end if;
  left_ms := now_ms + ahead_ms - "belay"."limit_next"(now_ms, kept.next_ms, kept.closed_ms, rate.each_ms, rate.burst)
    + (rate.burst - 1) * rate.each_ms + 0.001;
  if left_ms < 0 then return 0; end if;
  return floor(left_ms / rate.each_ms)::bigint + 1;
end
$$;
--> statement-breakpoint
-- How many steps that wait may be given their place now: of a rate also instants that come soon.
CREATE FUNCTION "belay"."limit_room"(wanted_limit text, wanted_key text) RETURNS bigint
LANGUAGE sql
AS $$ select "belay"."limit_room"(wanted_limit, wanted_key, 1500) $$;
--> statement-breakpoint
-- Uses up the next instants of a key, under its lock, and returns the first; null if the limit is no rate. The key is kept for as long as it matters.
CREATE FUNCTION "belay"."take_limit_instants"(wanted_limit text, wanted_key text, wanted int) RETURNS double precision
LANGUAGE plpgsql
AS $$
declare
  rate record;
  first_ms double precision;
  now_ms double precision := "belay"."store_ms"();
begin
  select * into rate from "belay"."limit_rate"(wanted_limit) r;
  if rate.each_ms is null then return null; end if;
  update "belay"."workflow_limit_keys" k
  set next_ms = n.next_ms + wanted * rate.each_ms,
    kept_ms = case when k.kept_ms > n.next_ms + wanted * rate.each_ms then k.kept_ms else n.next_ms + wanted * rate.each_ms + 60000 end
  from (
    select "belay"."limit_next"(now_ms, o.next_ms, o.closed_ms, rate.each_ms, rate.burst) as next_ms
    from "belay"."workflow_limit_keys" o where o.limit_name = wanted_limit and o.key = wanted_key
  ) n
  where k.limit_name = wanted_limit and k.key = wanted_key
  returning n.next_ms into first_ms;
  return greatest(now_ms, first_ms - (rate.burst - 1) * rate.each_ms);
end
$$;
--> statement-breakpoint
-- Whether a slot that a step has is as good as a new one for its attempt of this fence. Of a rate each attempt needs an instant of its own, and misses it
-- when it comes too late, when the rate was changed meanwhile, and when the key was pushed back.
CREATE FUNCTION "belay"."is_good_limit_slot"(slot "belay"."workflow_limit_slots", wanted_fence int) RETURNS boolean
LANGUAGE plpgsql
AS $$
declare
  rate record;
  closed double precision;
  now_ms double precision := "belay"."store_ms"();
begin
  if not slot.is_given and (slot.step = -1 or slot.fence = wanted_fence) then return true; end if;
  select * into rate from "belay"."limit_rate"(slot.limit_name) r;
  select coalesce(max(k.closed_ms), 0) into closed from "belay"."workflow_limit_keys" k where k.limit_name = slot.limit_name and k.key = slot.key;
  if rate.per_ms is null then return closed <= now_ms; end if;
  return slot.is_given and rate.each_ms is not null and slot.at_ms is not null and slot.at_ms <= now_ms + 0.001
    and now_ms - slot.at_ms <= least(500, greatest(50, rate.per_ms / 10)) + 0.001 and slot.at_ms >= closed - 0.001;
end
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
  entry_attempts int[], entry_limits text[], entry_keys text[], entry_of_run bool[], entry_leaves bool[]
) RETURNS TABLE ("position" int, "result" text, "entry" int)
LANGUAGE plpgsql
SET lock_timeout = '500ms' SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
declare
  attempt_count int := cardinality(run_ids);
  -- Of each attempt: whether it holds its step, whether it enters, in which line it is parked, which entry has no slot for which it does not wait,
  -- and whether its step is released.
  is_held bool[] := array_fill(false, array[attempt_count]);
  is_entered bool[] := array_fill(false, array[attempt_count]);
  parked_for int[] := array_fill(null::int, array[attempt_count]);
  full_for int[] := array_fill(null::int, array[attempt_count]);
  is_released bool[] := array_fill(false, array[attempt_count]);
  -- The places that steps have in lines, because their runs were resumed.
  places bigint[] := array_fill(null::bigint, array[attempt_count]);
  sinces timestamptz[] := array_fill(null::timestamptz, array[attempt_count]);
  found record;
  -- Of each entry, ordered by attempt and line: its attempt, its line, its slot, whether that is of the run, whether the attempt does not wait for it,
  -- its number among the arguments, and whether its run was stopped.
  attempts int[];
  lines int[];
  slots int[];
  of_run bool[];
  leaves bool[];
  numbers int[];
  stopped bool[];
  -- Of each slot whether it is taken by the one that asks; of each line how many are free.
  taken bool[];
  late bool[];
  rooms bigint[];
  has_line bool[];
  -- Of each line: its limit and key, whether it is of a rate, and how many instants are used up.
  line_limits text[];
  line_keys text[];
  is_rate bool[];
  used int[];
  -- The limits that are rates.
  rate_limits text[];
  -- Slots whose instants were missed, and which are taken anew.
  missed_limits text[] := '{}';
  missed_keys text[] := '{}';
  missed_runs uuid[] := '{}';
  missed_steps int[] := '{}';
  -- Runs that have missed the instant for which their steps are parked: with that, a step would be queued again at once. One that is still to come stays,
  -- as other steps of the run are queued for it.
  void_limits text[] := '{}';
  void_keys text[] := '{}';
  void_runs uuid[] := '{}';
  -- Lines of rates in which steps are parked.
  timed_limits text[] := '{}';
  timed_keys text[] := '{}';
  locked_limits text[];
  locked_keys text[];
  is_queued bool := false;
  first_entry int := 1;
  next_entry int;
  missing int;
  leaving int;
  run_waits bool;
  has_left bool := false;
begin
  for found in
    select a.position::int as position
    from unnest(run_ids, steps, fences) with ordinality as a (run_id, step, fence, position)
    join "belay"."workflow_steps" s on s.run_id = a.run_id and s.step = a.step
    where s.fence = a.fence and s.worker_id = entering_worker and s.status = 'running'
    order by s.run_id, s.step
    for update of s
  loop
    is_held[found.position] := true;
  end loop;
  locked_limits := array(select e.l from unnest(entry_attempts, entry_limits) as e (attempt, l) where is_held[e.attempt]);
  locked_keys := array(select e.k from unnest(entry_attempts, entry_keys) as e (attempt, k) where is_held[e.attempt]);
  rate_limits := array(
    select d.name from (select distinct l.name from unnest(locked_limits) as l (name)) d cross join lateral "belay"."limit_rate"(d.name)
  );
  if rate_limits <> '{}' then
    -- The lines of rates are given their next instants below.
    select l.locked_limits, l.locked_keys into locked_limits, locked_keys from "belay"."lock_limit_lines"(locked_limits, locked_keys) l;
  else
    perform "belay"."lock_limit_keys"(locked_limits, locked_keys);
  end if;
  -- The rows of each step one by one, here and below: a join may be planned as one of the whole table.
  for found in
    select a.position::int as position, w.place, w.since
    from unnest(run_ids, steps) with ordinality as a (run_id, step, position)
    cross join lateral (
      select b.place, b.since from "belay"."workflow_limit_waiters" b where b.run_id = a.run_id and b.step = a.step offset 0
    ) w
    where is_held[a.position]
  loop
    places[found.position] := found.place;
    sinces[found.position] := found.since;
    delete from "belay"."workflow_limit_waiters" w where w.run_id = run_ids[found.position] and w.step = steps[found.position];
  end loop;
  -- Slots of keys that the step had when it was given them, and has no more.
  delete from "belay"."workflow_limit_slots" s
  where s.ctid = any (array(
    select x.ctid
    from unnest(run_ids, steps) with ordinality as a (run_id, step, position)
    cross join lateral (
      select b.ctid, b.limit_name, b.key from "belay"."workflow_limit_slots" b where b.run_id = a.run_id and b.step = a.step offset 0
    ) x
    where is_held[a.position]
      and not exists (
        select from unnest(entry_attempts, entry_limits, entry_keys, entry_of_run) as e (attempt, l, k, r)
        where e.attempt = a.position and e.l = x.limit_name and e.k = x.key and not e.r
      )
  ));
  -- Void slots for which nobody waits: whoever does not wait either must not be skipped for them.
  if true = any (entry_leaves) then
    perform "belay"."drop_unawaited_slots"(array_agg(e.l), array_agg(e.k))
    from unnest(entry_attempts, entry_limits, entry_keys, entry_leaves) as e (attempt, l, k, leaves)
    where e.leaves and is_held[e.attempt];
  end if;
  -- One that has missed its instant keeps its place too.
  for found in
    select a.position::int as position, min(s.place) as place
    from unnest(run_ids, steps) with ordinality as a (run_id, step, position)
    cross join lateral (
      select b.place from "belay"."workflow_limit_slots" b where b.run_id = a.run_id and b.step = a.step offset 0
    ) s
    where is_held[a.position]
    group by a.position
  loop
    places[found.position] := coalesce(places[found.position], found.place);
  end loop;
  with entries as materialized (
    select h.*, dense_rank() over (order by h.l, h.k) as line, dense_rank() over (order by h.l, h.k, h.run_id, h.holder) as slot
    from (
      select e.attempt, e.l collate "C" as l, e.k collate "C" as k, e.r, run_ids[e.attempt] as run_id,
        case when e.r then -1 else steps[e.attempt] end as holder, fences[e.attempt] as fence, e.number::int as number,
        -- A run of which something was done already waits: it began before it had this limit.
        e.leaves and not (e.r and exists (
          select from "belay"."workflow_steps" t where t.run_id = run_ids[e.attempt] and t.status in ('completed', 'failed')
        )) as leaves,
        e.leaves and e.r and coalesce((select t.stop is not null from "belay"."workflow_runs" t where t.id = run_ids[e.attempt]), true) as stopped
      from unnest(entry_attempts, entry_limits, entry_keys, entry_of_run, entry_leaves) with ordinality as e (attempt, l, k, r, leaves, number)
      where is_held[e.attempt]
    ) h
  ),
  known_slots as materialized (
    -- Not a join: it may be planned as one of the whole table.
    select d.slot, (
      select "belay"."is_good_limit_slot"(s, d.fence) from "belay"."workflow_limit_slots" s
      where s.limit_name = d.l and s.key = d.k and s.run_id = d.run_id and s.step = d.holder limit 1
    ) as is_good
    from (select distinct on (o.slot) o.* from entries o order by o.slot) d
  )
  select array_agg(e.attempt order by e.attempt, e.line), array_agg(e.line order by e.attempt, e.line), array_agg(e.slot order by e.attempt, e.line),
    array_agg(e.r order by e.attempt, e.line), array_agg(e.leaves order by e.attempt, e.line), array_agg(e.number order by e.attempt, e.line),
    array_agg(e.stopped order by e.attempt, e.line),
    (select array_agg(coalesce(t.is_good, false) order by t.slot) from known_slots t),
    (select array_agg(coalesce(not t.is_good, false) order by t.slot) from known_slots t)
  into attempts, lines, slots, of_run, leaves, numbers, stopped, taken, late
  from entries e;
  with ranked as (
    select d.l, d.k, row_number() over (order by d.l, d.k) as line
    from (
      select distinct e.l collate "C" as l, e.k collate "C" as k from unnest(entry_attempts, entry_limits, entry_keys) as e (attempt, l, k)
      where is_held[e.attempt]
    ) d
  )
  select array_agg("belay"."limit_room"(r.l, r.k, 0) order by r.line),
    array_agg(coalesce((select true from "belay"."workflow_limit_waiters" w where w.limit_name = r.l and w.key = r.k limit 1), false) order by r.line),
    array_agg(r.l order by r.line), array_agg(r.k order by r.line), array_agg(0 order by r.line),
    array_agg(r.l = any (rate_limits) order by r.line)
  into rooms, has_line, line_limits, line_keys, used, is_rate
  from ranked r;
  -- One after another: all the slots that an attempt needs, or none.
  while first_entry <= coalesce(cardinality(attempts), 0) loop
    next_entry := first_entry;
    missing := null;
    leaving := null;
    run_waits := false;
    while next_entry <= cardinality(attempts) and attempts[next_entry] = attempts[first_entry] loop
      -- Whoever has missed an instant stood before those that still wait.
      if leaves[next_entry] then
        -- One of the run goes first. It stands in no line.
        if not taken[slots[next_entry]] and (rooms[lines[next_entry]] <= 0 or stopped[next_entry])
          and (leaving is null or (of_run[next_entry] and not of_run[leaving])) then
          leaving := next_entry;
        end if;
      elsif not taken[slots[next_entry]]
        and (rooms[lines[next_entry]] <= 0 or (has_line[lines[next_entry]] and not late[slots[next_entry]])) then
        missing := coalesce(missing, next_entry);
        run_waits := run_waits or of_run[next_entry];
      end if;
      next_entry := next_entry + 1;
    end loop;
    -- Whether the step is skipped is decided once its run may begin.
    if run_waits and leaving is not null and not of_run[leaving] then leaving := null; end if;
    for entry in first_entry .. next_entry - 1 loop
      -- What it was given is freed like the slots of any attempt that is over.
      exit when leaving is not null;
      if missing is null and not taken[slots[entry]] then
        taken[slots[entry]] := true;
        rooms[lines[entry]] := rooms[lines[entry]] - 1;
        used[lines[entry]] := used[lines[entry]] + 1;
        if late[slots[entry]] then
          missed_limits := missed_limits || line_limits[lines[entry]];
          missed_keys := missed_keys || line_keys[lines[entry]];
          missed_runs := missed_runs || run_ids[attempts[entry]];
          missed_steps := missed_steps || case when of_run[entry] then -1 else steps[attempts[entry]] end;
        end if;
      elsif missing is not null and taken[slots[entry]] and not of_run[entry] then
        -- Whoever waits for one limit holds nothing of another. An instant of a rate is lost.
        taken[slots[entry]] := false;
        if not is_rate[lines[entry]] then rooms[lines[entry]] := rooms[lines[entry]] + 1; end if;
      end if;
    end loop;
    if leaving is not null then
      has_left := true;
      full_for[attempts[first_entry]] := numbers[leaving];
      is_released[attempts[first_entry]] := of_run[leaving];
    elsif missing is null then
      is_entered[attempts[first_entry]] := true;
    else
      parked_for[attempts[first_entry]] := lines[missing];
      is_released[attempts[first_entry]] := true;
      -- Whoever comes next stands behind it.
      has_line[lines[missing]] := true;
      if of_run[missing] and late[slots[missing]] then
        for found in
          select s.limit_name, s.key, s.run_id, s.place from "belay"."workflow_limit_slots" s
          where s.limit_name = line_limits[lines[missing]] and s.key = line_keys[lines[missing]] and s.run_id = run_ids[attempts[missing]] and s.step = -1
            and (s.at_ms is null or s.at_ms <= "belay"."store_ms"() + 0.001 or s.at_ms < coalesce((
              select k.closed_ms from "belay"."workflow_limit_keys" k where k.limit_name = s.limit_name and k.key = s.key
            ), 0) - 0.001)
        loop
          void_limits := void_limits || found.limit_name;
          void_keys := void_keys || found.key;
          void_runs := void_runs || found.run_id;
          -- Another step of the run may have it: no two have one place.
          if places[attempts[missing]] is null and not coalesce(found.place = any (places), false)
            and not exists (select from "belay"."workflow_limit_waiters" w where w.run_id = found.run_id and w.place = found.place)
            and not exists (
              select from "belay"."workflow_limit_slots" o where o.run_id = found.run_id and o.step <> -1 and o.place = found.place
            ) then
            places[attempts[missing]] := found.place;
          end if;
          late[slots[missing]] := false;
        end loop;
      end if;
      if is_rate[lines[missing]] then
        timed_limits := timed_limits || line_limits[lines[missing]];
        timed_keys := timed_keys || line_keys[lines[missing]];
      end if;
    end if;
    first_entry := next_entry;
  end loop;
  delete from "belay"."workflow_limit_slots" s
  where s.ctid = any (array(
    select x.ctid from unnest(run_ids, steps, parked_for) as p (run_id, step, entry)
    cross join lateral (
      select b.ctid from "belay"."workflow_limit_slots" b where b.run_id = p.run_id and b.step = p.step offset 0
    ) x
    where p.entry is not null
  ));
  if has_left then
    for found in select f.position::int as position from unnest(full_for) with ordinality as f (entry, position) where f.entry is not null loop
      update "belay"."workflow_limit_slots" s set fence = fences[found.position], is_given = false
      where s.run_id = run_ids[found.position] and s.step = steps[found.position];
    end loop;
  end if;
  delete from "belay"."workflow_limit_slots" s
  where s.ctid = any (array(
    select x.ctid
    from (
      select v.l, v.k, v.run_id, -1 as step from unnest(void_limits, void_keys, void_runs) as v (l, k, run_id)
      union all
      select m.l, m.k, m.run_id, m.step from unnest(missed_limits, missed_keys, missed_runs, missed_steps) as m (l, k, run_id, step)
    ) g
    cross join lateral (
      select b.ctid from "belay"."workflow_limit_slots" b where b.limit_name = g.l and b.key = g.k and b.run_id = g.run_id and b.step = g.step offset 0
    ) x
  ));
  perform "belay"."take_limit_instants"(line_limits[l.line], line_keys[l.line], used[l.line])
  from generate_subscripts(line_limits, 1) as l (line) where is_rate[l.line] and used[l.line] > 0;
  insert into "belay"."workflow_limit_slots" (run_id, step, fence, definition_id, since, at_ms, is_given, limit_name, key)
  select distinct on (h.l, h.k, h.run_id, h.holder) h.run_id, h.holder, h.fence, h.definition_id, "belay"."store_now"(),
    case when h.l = any (rate_limits) then "belay"."store_ms"() end, false, h.l, h.k
  from (
    select e.l, e.k, run_ids[e.attempt] as run_id, case when e.r then -1 else steps[e.attempt] end as holder,
      case when e.r then 0 else fences[e.attempt] end as fence, definition_ids[e.attempt] as definition_id
    from unnest(entry_attempts, entry_limits, entry_keys, entry_of_run) as e (attempt, l, k, r)
    where is_entered[e.attempt]
  ) h
  on conflict (limit_name, key, run_id, step) do update set fence = excluded.fence, is_given = false;
  insert into "belay"."workflow_limit_waiters" (run_id, step, fence, place, since, limit_name, key, limits, keys, of_run)
  select run_ids[p.attempt], steps[p.attempt], fences[p.attempt],
    coalesce(places[p.attempt], nextval(pg_get_serial_sequence('"belay"."workflow_limit_waiters"', 'place'))),
    coalesce(sinces[p.attempt], "belay"."store_now"()),
    line_limits[parked_for[p.attempt]], line_keys[parked_for[p.attempt]], p.limits, p.keys, p.of_run
  from (
    select e.attempt, array_agg(line_limits[e.line] order by e.line) as limits, array_agg(line_keys[e.line] order by e.line) as keys,
      array_agg(e.r order by e.line) as of_run
    from unnest(attempts, lines, of_run, leaves) as e (attempt, line, r, leaves)
    where parked_for[e.attempt] is not null and not e.leaves
    group by e.attempt
    -- Places are given in this order.
    order by e.attempt
    offset 0
  ) p;
  -- As after a release, but in no queue.
  update "belay"."workflow_steps" s
  set status = 'ready', worker_id = null, finished_at = "belay"."store_now"(), available_at = "belay"."store_now"(),
    attempts = coalesce(s.attempts, s.fence % 40000000) - 1,
    begun = case when s.begun then true when s.fence = 1 then false else s.begun end
  from unnest(run_ids, steps, is_released) as p (run_id, step, released)
  where s.run_id = p.run_id and s.step = p.step and p.released;
  -- Steps that wait for a rate know their instants at once, if these come soon.
  if timed_limits <> '{}' then is_queued := "belay"."hand_over_limits"(timed_limits, timed_keys, locked_limits, locked_keys); end if;
  return query
  select 0, 'queued'::text, null::int where is_queued
  union all
  select a.position::int, case when is_entered[a.position] then 'settled'::text when full_for[a.position] is null then 'parked' else 'full' end,
    full_for[a.position]
  from generate_subscripts(run_ids, 1) as a (position)
  where is_held[a.position]
  union all
  -- Parked by an earlier call whose answer was lost, or ended by it because there was no slot.
  select a.position::int, 'parked', null
  from unnest(run_ids, steps, fences) with ordinality as a (run_id, step, fence, position)
  join "belay"."workflow_steps" s on s.run_id = a.run_id and s.step = a.step
  where not is_held[a.position] and s.fence = a.fence and case s.status
    when 'ready' then s.worker_id is null
    when 'skipped' then s.worker_id = entering_worker and exists (select from unnest(entry_attempts, entry_leaves) as e (n, l) where e.n = a.position and e.l)
    when 'cancelled' then exists (select from unnest(entry_attempts, entry_leaves) as e (n, l) where e.n = a.position and e.l)
    else false end;
end
$$;
--> statement-breakpoint
-- Gives runs that are about to be started their slots, each all of them or none. Returns for each run 0, or the number of the entry that has no slot and
-- how many slots its limit has, or nothing but its position if it exists already. The keys stay locked: what is decided here holds until the commit.
CREATE FUNCTION "belay"."take_start_slots"(
  run_ids uuid[], definition_ids int[], workflows text[], run_keys text[],
  entry_runs int[], entry_limits text[], entry_keys text[], entry_slots int[], waits text
) RETURNS TABLE ("position" int, "entry" int, "slots" int)
LANGUAGE plpgsql
SET lock_timeout = '500ms' SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
declare
  run_count int := cardinality(run_ids);
  asked record;
  full_line int;
  -- Of each line how many slots are free, and how many it has.
  line_rooms bigint[];
  line_slots int[];
  -- Of each run whether it takes slots. Of each id, and of each workflow and key, whether a run of this call has it.
  is_taking bool[] := array_fill(false, array[run_count]);
  has_id bool[] := array_fill(false, array[run_count]);
  has_key bool[] := array_fill(false, array[run_count]);
begin
  perform set_config('lock_timeout', waits, true);
  perform "belay"."lock_limit_keys"(entry_limits, entry_keys);
  -- Void slots for which nobody waits: nobody must be refused for them.
  perform "belay"."drop_unawaited_slots"(entry_limits, entry_keys);
  select array_agg(l.room order by l.line), array_agg(l.slots order by l.line) into line_rooms, line_slots
  from (
    select row_number() over (order by d.l, d.k) as line, coalesce(n.slots, d.slots) as slots,
      -- A limit that nobody has declared yet has room for everybody.
      "belay"."limit_room"(d.l, d.k, 0) - case when n.slots is null then 2147483647 - d.slots else 0 end as room
    from (
      select e.l collate "C" as l, e.k collate "C" as k, min(e.slots) as slots
      from unnest(entry_limits, entry_keys, entry_slots) as e (l, k, slots) group by 1, 2
    ) d
    left join lateral (
      select coalesce(w.set_to, w.declared) as slots from "belay"."workflow_limits" w where w.name = d.l
    ) n on true
  ) l;
  for asked in
    with entries as materialized (
      select o.run, array_agg(o.line order by o.line) as lines, array_agg(o.nth order by o.line) as nths
      from (
        select e.run, e.nth::int as nth, dense_rank() over (order by e.l collate "C", e.k collate "C")::int as line
        from unnest(entry_runs, entry_limits, entry_keys) with ordinality as e (run, l, k, nth)
      ) o
      group by o.run
    )
    select a.nth::int as nth, coalesce(e.lines, '{}') as lines, e.nths, a.key is not null as is_keyed,
      dense_rank() over (order by a.id)::int as id_rank, dense_rank() over (order by a.workflow, a.key)::int as key_rank,
      exists (select from "belay"."workflow_runs" r where r.id = a.id)
        or exists (select from "belay"."workflow_runs" r where r.workflow = a.workflow and r.key = a.key) as is_known
    from unnest(run_ids, workflows, run_keys) with ordinality as a (id, workflow, key, nth)
    left join entries e on e.run = a.nth
    order by a.nth
  loop
    position := asked.nth;
    entry := null;
    slots := null;
    -- The same run, or another with its key, may stand before it in the call.
    if not (asked.is_known or has_id[asked.id_rank] or (asked.is_keyed and has_key[asked.key_rank])) then
      full_line := null;
      for i in 1 .. cardinality(asked.lines) loop
        if full_line is null and line_rooms[asked.lines[i]] <= 0 then
          full_line := asked.lines[i];
          entry := asked.nths[i];
          slots := line_slots[full_line];
        end if;
      end loop;
      if full_line is null then
        entry := 0;
        is_taking[asked.nth] := true;
        has_id[asked.id_rank] := true;
        has_key[asked.key_rank] := true;
        for i in 1 .. cardinality(asked.lines) loop
          line_rooms[asked.lines[i]] := line_rooms[asked.lines[i]] - 1;
        end loop;
      end if;
    end if;
    return next;
  end loop;
  insert into "belay"."workflow_limit_slots" (run_id, step, fence, definition_id, since, is_given, limit_name, key)
  select run_ids[e.run], -1, 0, definition_ids[e.run], "belay"."store_now"(), false, e.l, e.k
  from unnest(entry_runs, entry_limits, entry_keys) as e (run, l, k)
  where is_taking[e.run];
  -- Keys that nobody needs: their runs exist and have ended.
  delete from "belay"."workflow_limit_keys" k
  using unnest(entry_limits, entry_keys) as l (limit_name, key)
  where k.limit_name = l.limit_name and k.key = l.key
    and not exists (select from "belay"."workflow_limit_slots" s where s.limit_name = k.limit_name and s.key = k.key)
    and not exists (select from "belay"."workflow_limit_waiters" w where w.limit_name = k.limit_name and w.key = k.key)
    and coalesce(greatest(k.next_ms, k.closed_ms), 0) <= "belay"."store_ms"();
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
  begins timestamptz;
begin
  select * into waiter from "belay"."workflow_limit_waiters" w where w.run_id = waiting_run and w.step = waiting_step;
  if not found then return false; end if;
  select r.definition_id, greatest(r.created_at, r.start_at) - coalesce(s.priority, 0) * interval '1 minute' as began into begun
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
  insert into "belay"."workflow_limit_slots" (run_id, step, fence, definition_id, since, at_ms, place, is_given, limit_name, key)
  select waiting_run, case when e.r then -1 else waiting_step end, case when e.r then 0 else waiter.fence end, begun.definition_id,
    "belay"."store_now"(), "belay"."take_limit_instants"(e.l, e.k, 1), waiter.place, true, e.l, e.k
  from unnest(waiter.limits, waiter.keys, waiter.of_run) as e (l, k, r)
  where not exists (
    select from "belay"."workflow_limit_slots" s where s.limit_name = e.l and s.key = e.k and s.run_id = waiting_run
      and s.step = case when e.r then -1 else waiting_step end
  );
  select to_timestamp(max(s.at_ms) / 1000) into begins
  from unnest(waiter.limits, waiter.keys, waiter.of_run) as e (l, k, r)
  join "belay"."workflow_limit_slots" s on s.limit_name = e.l and s.key = e.k and s.run_id = waiting_run
    and s.step = case when e.r then -1 else waiting_step end
  where s.is_given;
  delete from "belay"."workflow_limit_waiters" w where w.run_id = waiting_run and w.step = waiting_step;
  -- Where its run began, ahead by its priority: it has waited for longer than what has come since.
  insert into "belay"."workflow_ready" (available_at, definition_id, step, fence, run_id)
  values (greatest(begun.began, begins), begun.definition_id, waiting_step, waiter.fence, waiting_run);
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
  room bigint;
  queued bool := false;
begin
  for line in
    select distinct f.limit_name collate "C" as limit_name, f.key collate "C" as key from unnest(free_limits, free_keys) as f (limit_name, key) order by 1, 2
  loop
    room := null;
    for waiter in
      select w.run_id, w.step, true = any (w.of_run) as is_of_run from "belay"."workflow_limit_waiters" w
      where w.limit_name = line.limit_name and w.key = line.key
      order by w.place
      limit 1000
    loop
      room := coalesce(room, "belay"."limit_room"(line.limit_name, line.key));
      exit when room <= 0;
      if "belay"."give_limit_slots"(waiter.run_id, waiter.step, locked_limits, locked_keys) then
        queued := true;
        -- With a slot of its run, other steps of the run may have been given theirs too. Slots are not counted for each that waits.
        room := case when waiter.is_of_run then null else room - 1 end;
      end if;
    end loop;
  end loop;
  delete from "belay"."workflow_limit_keys" k
  using unnest(locked_limits, locked_keys) as l (limit_name, key)
  where k.limit_name = l.limit_name and k.key = l.key
    and not exists (select from "belay"."workflow_limit_slots" s where s.limit_name = k.limit_name and s.key = k.key)
    and not exists (select from "belay"."workflow_limit_waiters" w where w.limit_name = k.limit_name and w.key = k.key)
    and coalesce(greatest(k.next_ms, k.closed_ms), 0) <= "belay"."store_ms"();
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
  -- One by one, here and below: a join may be planned as one of the whole table.
  from unnest(run_ids, steps, fences) as a (run_id, step, fence)
  cross join lateral (
    select b.* from "belay"."workflow_limit_slots" b where b.run_id = a.run_id and b.step = a.step offset 0
  ) s
  where s.fence = a.fence and not s.is_given
    and not exists (
      select from "belay"."workflow_steps" t where t.run_id = a.run_id and t.step = a.step and t.fence = a.fence and t.status = 'running'
    )
  union
  select s.limit_name, s.key, s.run_id, s.step
  from unnest(run_ids) as a (run_id)
  cross join lateral (
    select b.* from "belay"."workflow_limit_slots" b where b.run_id = a.run_id and b.step = -1 offset 0
  ) s
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
  where s.ctid = any (array(
    select x.ctid from "belay"."over_limit_slots"(run_ids, steps, fences) o
    cross join lateral (
      select b.ctid from "belay"."workflow_limit_slots" b
      where b.limit_name = o.limit_name and b.key = o.key and b.run_id = o.run_id and b.step = o.step offset 0
    ) x
  ));
  return "belay"."hand_over_limits"(freed_limits, freed_keys, locked.locked_limits, locked.locked_keys);
end
$$;
--> statement-breakpoint
-- The slots of these lines that nobody holds any more; of all lines if they are null.
CREATE FUNCTION "belay"."void_limit_slots"(unclaimed_ms double precision, of_limits text[], of_keys text[])
RETURNS TABLE ("limit_name" text, "key" text, "run_id" uuid, "step" int)
LANGUAGE sql
AS $$
  select s.limit_name, s.key, s.run_id, s.step
  from (
    select a.* from "belay"."workflow_limit_slots" a where of_limits is null
    union all
    -- Line by line: a join may be planned as one of the whole table.
    select o.* from (select distinct d.limit_name, d.key from unnest(of_limits, of_keys) as d (limit_name, key)) l
    cross join lateral (
      select b.* from "belay"."workflow_limit_slots" b where b.limit_name = l.limit_name and b.key = l.key offset 0
    ) o
  ) s
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
-- Drops the void slots of these lines. Only under the locks of these keys.
CREATE FUNCTION "belay"."drop_void_slots"(unclaimed_ms double precision, of_limits text[], of_keys text[]) RETURNS void
LANGUAGE sql
AS $$
  delete from "belay"."workflow_limit_slots" s
  where s.ctid = any (array(
    select x.ctid from "belay"."void_limit_slots"(unclaimed_ms, coalesce(of_limits, '{}'), coalesce(of_keys, '{}')) v
    cross join lateral (
      select b.ctid from "belay"."workflow_limit_slots" b
      where b.limit_name = v.limit_name and b.key = v.key and b.run_id = v.run_id and b.step = v.step offset 0
    ) x
  ))
$$;
--> statement-breakpoint
-- Drops the void slots of those of these lines in which nobody waits: others are given to whoever waits, by whoever tends the limits. 10 s is UNCLAIMED_MS.
CREATE FUNCTION "belay"."drop_unawaited_slots"(of_limits text[], of_keys text[]) RETURNS void
LANGUAGE sql
AS $$
  select "belay"."drop_void_slots"(10000, array_agg(d.l), array_agg(d.k))
  from (
    select distinct e.l, e.k from unnest(of_limits, of_keys) as e (l, k)
    where not exists (select from "belay"."workflow_limit_waiters" w where w.limit_name = e.l and w.key = e.k)
  ) d
$$;
--> statement-breakpoint
-- Gives free slots of the lines after this one to the steps that wait in them, void ones too. Void slots for which nobody waits are freed only if all
-- slots are looked at. Returns the last line it looked at, if there may be more.
CREATE FUNCTION "belay"."tend_limits"(after_limit text, after_key text, lines_max int, unclaimed_ms double precision, all_slots bool)
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
  -- Keys of rates that are as if they had never been used.
  delete from "belay"."workflow_limit_keys" k
  using (
    select o.limit_name, o.key from "belay"."workflow_limit_keys" o
    where o.kept_ms < "belay"."store_ms"()
      and not exists (select from "belay"."workflow_limit_slots" s where s.limit_name = o.limit_name and s.key = o.key)
      and not exists (select from "belay"."workflow_limit_waiters" w where w.limit_name = o.limit_name and w.key = o.key)
    order by o.kept_ms
    limit 1000
    for update of o skip locked
  ) idle
  where k.limit_name = idle.limit_name and k.key = idle.key and k.kept_ms < "belay"."store_ms"();
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
    select v.limit_name, v.key
    from "belay"."void_limit_slots"(
      unclaimed_ms, case when not all_slots then coalesce(line_limits, '{}') end, case when not all_slots then coalesce(line_keys, '{}') end
    ) v
    union
    select l.limit_name, l.key from unnest(line_limits, line_keys) as l (limit_name, key) where "belay"."limit_room"(l.limit_name, l.key) > 0
  ) f;
  if free_limits is not null then
    select * into locked from "belay"."lock_limit_lines"(free_limits, free_keys);
    perform "belay"."drop_void_slots"(unclaimed_ms, locked.locked_limits, locked.locked_keys);
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
CREATE FUNCTION "belay"."set_limit"(limit_to_set text, slots int, rate_per_ms double precision, rate_burst int, lines_max int) RETURNS boolean
LANGUAGE plpgsql
SET lock_timeout = '5s' SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
declare
  free_limits text[];
  free_keys text[];
  locked record;
  rate record;
begin
  if slots is null then
    delete from "belay"."workflow_limits" l where l.name = limit_to_set and l.declared is null;
    update "belay"."workflow_limits" l set set_to = null, set_per_ms = null, set_burst = null where l.name = limit_to_set;
  else
    insert into "belay"."workflow_limits" (name, set_to, set_per_ms, set_burst) values (limit_to_set, slots, rate_per_ms, rate_burst)
    on conflict (name) do update set set_to = excluded.set_to, set_per_ms = excluded.set_per_ms, set_burst = excluded.set_burst;
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
  select array_agg(limit_to_set), array_agg(l.key) into free_limits, free_keys from lines l;
  select * into rate from "belay"."limit_rate"(limit_to_set) r;
  if rate.per_ms is null then
    select array_agg(l.limit_name), array_agg(l.key) into free_limits, free_keys
    from unnest(free_limits, free_keys) as l (limit_name, key) where "belay"."limit_room"(l.limit_name, l.key) > 0;
    if free_limits is null then return false; end if;
    select * into locked from "belay"."lock_limit_lines"(free_limits, free_keys);
    return "belay"."hand_over_limits"(free_limits, free_keys, locked.locked_limits, locked.locked_keys);
  end if;
  -- Each key of a rate begins anew with an empty burst, and what was given before is void. All keys are locked at once, in order.
  select array_agg(limit_to_set), array_agg(a.key) into free_limits, free_keys
  from (
    select l.key from unnest(free_keys) as l (key)
    union
    select k.key from "belay"."workflow_limit_keys" k where k.limit_name = limit_to_set and k.next_ms > "belay"."store_ms"()
  ) a;
  if free_limits is not null then
    select * into locked from "belay"."lock_limit_lines"(free_limits, free_keys);
  end if;
  update "belay"."workflow_limit_slots" s set at_ms = 0 where s.limit_name = limit_to_set and s.is_given;
  update "belay"."workflow_limit_keys" k
  set next_ms = n.next_ms, kept_ms = n.next_ms + 60000
  from (
    select o.key, case when o.closed_ms > "belay"."store_ms"() then o.closed_ms + (rate.burst - 1) * rate.each_ms
      else "belay"."store_ms"() + rate.burst * rate.each_ms end as next_ms
    from "belay"."workflow_limit_keys" o where o.limit_name = limit_to_set and o.next_ms > "belay"."store_ms"()
  ) n
  where k.limit_name = limit_to_set and k.key = n.key and rate.each_ms is not null;
  if free_limits is null then return false; end if;
  return "belay"."hand_over_limits"(free_limits, free_keys, locked.locked_limits, locked.locked_keys);
end
$$;
--> statement-breakpoint
-- Lets nobody enter these keys for so long, whatever kind their limits are of; then a rate begins without its burst.
CREATE FUNCTION "belay"."push_back_limits"(pushed_limits text[], pushed_keys text[], after_ms double precision) RETURNS void
LANGUAGE plpgsql
SET lock_timeout = '500ms' SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
declare
  known_limits text[];
  known_keys text[];
begin
  select array_agg(p.l), array_agg(p.k) into known_limits, known_keys
  from unnest(pushed_limits, pushed_keys) as p (l, k)
  where exists (select from "belay"."workflow_limits" l where l.name = p.l);
  if known_limits is null then return; end if;
  perform "belay"."lock_limit_keys"(known_limits, known_keys);
  update "belay"."workflow_limit_keys" k
  set closed_ms = greatest(k.closed_ms, "belay"."store_ms"() + after_ms),
    next_ms = coalesce((
      select greatest("belay"."limit_next"("belay"."store_ms"(), k.next_ms, k.closed_ms, r.each_ms, r.burst),
        greatest(k.closed_ms, "belay"."store_ms"() + after_ms) + (r.burst - 1) * r.each_ms)
      from "belay"."limit_rate"(k.limit_name) r where r.each_ms is not null
    ), k.next_ms)
  where (k.limit_name, k.key) in (select p.l, p.k from unnest(known_limits, known_keys) as p (l, k));
  update "belay"."workflow_limit_keys" k
  set kept_ms = greatest(k.kept_ms, greatest(k.closed_ms, k.next_ms) + 60000)
  where (k.limit_name, k.key) in (select p.l, p.k from unnest(known_limits, known_keys) as p (l, k));
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
  CASE WHEN l.set_to IS NULL THEN l.declared_per_ms ELSE l.set_per_ms END AS per_ms,
  CASE WHEN l.set_to IS NULL THEN l.declared_burst ELSE l.set_burst END AS burst,
  CASE WHEN k.closed_ms > "belay"."store_ms"() THEN to_timestamp(k.closed_ms / 1000) END AS pushed_back_until,
  (SELECT count(*) FROM "belay"."workflow_limit_slots" s WHERE s.limit_name = k.limit_name AND s.key = k.key) AS in_use,
  (SELECT count(*) FROM "belay"."workflow_limit_waiters" w WHERE w.limit_name = k.limit_name AND w.key = k.key) AS waiting,
  (SELECT min(w.since) FROM "belay"."workflow_limit_waiters" w WHERE w.limit_name = k.limit_name AND w.key = k.key) AS waiting_since
FROM "belay"."workflow_limit_keys" k
LEFT JOIN "belay"."workflow_limits" l ON l.name = k.limit_name;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0016_limits', 5);
`,
  },
  {
    tag: '0017_next_deadlines',
    hash: '46793dfdf9b646a8d9d96f0fce700b6784d102815504481d82b33435f11914f3',
    sql: `-- The runs that go forward and whose deadline comes first. Without sorts, so that the planner reads the index of deadlines: beside a held snapshot the
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
`,
  },
  {
    tag: '0018_replica_identity',
    hash: '6f95a72788dbb0c1833e8c93f5924543d39a0bb133f08f87b26c20e92343361f',
    sql: `-- The rows of the queue have no key: two hints for one step are no mistake. Where a publication has these tables, as FOR ALL TABLES does, the server
-- refuses to delete rows that nothing identifies. Changes the catalog only, each under a lock for a moment. Rows cost more log only where wal_level is
-- logical.
ALTER TABLE "belay"."workflow_ready_late" REPLICA IDENTITY FULL;
--> statement-breakpoint
ALTER TABLE "belay"."workflow_ready_items" REPLICA IDENTITY FULL;
--> statement-breakpoint
ALTER TABLE "belay"."workflow_ready" REPLICA IDENTITY FULL;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0018_replica_identity', 5);
`,
  },
  {
    tag: '0019_no_key_locks',
    hash: 'f05d83564ff137fd37f19bf2d42266ad265f8a285d6a03a71248d6aa5a827ece',
    sql: `-- A row of the application's with a foreign key to a step holds that step FOR KEY SHARE while its transaction is open. Entering limits changes no key of a
-- step, so it need not wait for such a transaction. The function stays as it is but for that one lock.
DO $do$
BEGIN
  EXECUTE replace(
    pg_catalog.pg_get_functiondef('"belay"."enter_limits"'::pg_catalog.regproc),
    'for update of s', 'for no key update of s'
  );
END
$do$;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0019_no_key_locks', 5);
`,
  },
]
