// Made by `pnpm db:generate` from the folder baseline/. Don't edit.
export const BASELINE: readonly { readonly tag: string; readonly hash: string; readonly sql: string }[] = [
  {
    tag: '0000_baseline',
    hash: 'eae41b184a239e5a0ade56df51e9299de627d84500a1073889e061332cec7b11',
    sql: `CREATE SCHEMA IF NOT EXISTS "belay";
--> statement-breakpoint
CREATE TABLE "belay"."workflow_definitions" (
	"id" integer PRIMARY KEY NOT NULL,
	"version" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"name" text NOT NULL,
	"checksum" text NOT NULL,
	"shape" json NOT NULL,
	CONSTRAINT "workflow_definitions_name_version_key" UNIQUE("name","version")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_live" (
	"run_id" uuid PRIMARY KEY NOT NULL,
	"definition_id" integer NOT NULL,
	"owner" integer,
	"fence" integer NOT NULL,
	"lead" integer NOT NULL,
	"begun" boolean DEFAULT false NOT NULL,
	"lost" boolean DEFAULT false NOT NULL,
	"due" timestamp with time zone NOT NULL,
	"place" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_mail" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "belay"."workflow_mail_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" uuid NOT NULL,
	"seen" integer,
	"reopens" boolean DEFAULT false NOT NULL,
	"sent_at" timestamp with time zone NOT NULL,
	"applied_at" timestamp with time zone,
	"key" text NOT NULL,
	"event" json,
	"payload" json,
	"answer" json,
	CONSTRAINT "workflow_mail_run_id_key_key" UNIQUE("run_id","key")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"definition_id" integer NOT NULL,
	"priority" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone,
	"start_at" timestamp with time zone,
	"deadline_at" timestamp with time zone,
	"paused" boolean DEFAULT false NOT NULL,
	"parked" boolean DEFAULT false NOT NULL,
	"fence" integer,
	"status" text NOT NULL,
	"workflow" text NOT NULL,
	"key" text,
	"input_hash" text,
	"tags" text[],
	"parent_run_id" uuid,
	"parent_unit" integer,
	"detached" boolean,
	"input" json,
	"cause" json,
	"state" json
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_steps" (
	"run_id" uuid NOT NULL,
	"unit" integer NOT NULL,
	"scope" integer NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"losses" integer DEFAULT 0 NOT NULL,
	"round" integer DEFAULT 1 NOT NULL,
	"index" integer,
	"worker_id" integer,
	"due" timestamp with time zone,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"status" text NOT NULL,
	"name" text,
	"label" text,
	"undo_attempt" integer,
	"undo_failures" integer,
	"undo_losses" integer,
	"undo_due" timestamp with time zone,
	"undo_started_at" timestamp with time zone,
	"undo_finished_at" timestamp with time zone,
	"state" json,
	"item" json,
	"output" json,
	"error" json,
	"undo_error" json,
	CONSTRAINT "workflow_steps_pkey" PRIMARY KEY("run_id","unit")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_workers" (
	"number" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "belay"."workflow_workers_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"epoch" integer DEFAULT 1 NOT NULL,
	"slots" integer NOT NULL,
	"busy" integer DEFAULT 0 NOT NULL,
	"alive" boolean DEFAULT true NOT NULL,
	"lease_expires_at" timestamp with time zone NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"renewed_at" timestamp with time zone NOT NULL,
	"id" uuid NOT NULL,
	"name" text NOT NULL,
	"host" text,
	"definition_ids" integer[] NOT NULL,
	CONSTRAINT "workflow_workers_id_key" UNIQUE("id")
);
--> statement-breakpoint
CREATE INDEX "workflow_live_due_idx" ON "belay"."workflow_live" USING btree ("definition_id","due") WHERE "belay"."workflow_live"."owner" is null and "belay"."workflow_live"."place" is null;--> statement-breakpoint
CREATE INDEX "workflow_live_place_idx" ON "belay"."workflow_live" USING btree ("definition_id","place") WHERE "belay"."workflow_live"."owner" is null and "belay"."workflow_live"."place" is not null;--> statement-breakpoint
CREATE INDEX "workflow_live_owner_idx" ON "belay"."workflow_live" USING btree ("owner") WHERE "belay"."workflow_live"."owner" is not null;--> statement-breakpoint
CREATE INDEX "workflow_mail_new_idx" ON "belay"."workflow_mail" USING btree ("run_id","sequence") WHERE "belay"."workflow_mail"."applied_at" is null;--> statement-breakpoint
CREATE INDEX "workflow_mail_seen_idx" ON "belay"."workflow_mail" USING btree ("seen","sequence") WHERE "belay"."workflow_mail"."applied_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "workflow_runs_workflow_key_key" ON "belay"."workflow_runs" USING btree ("workflow","key") WHERE "belay"."workflow_runs"."key" is not null;
--> statement-breakpoint
-- What drizzle-kit cannot generate: the clock, storage settings, and what has been applied.
-- Every statement takes its time from here, so that a test can control time by replacing it.
CREATE FUNCTION "belay"."store_now"() RETURNS timestamp with time zone
LANGUAGE sql STABLE PARALLEL SAFE
AS $$ select pg_catalog.now() $$;
--> statement-breakpoint
-- Room on each page for new versions of its rows: most updates of a step or a run then touch no index.
ALTER TABLE "belay"."workflow_steps" SET (fillfactor = 60);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" SET (fillfactor = 80);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
--> statement-breakpoint
-- It is as small as the work under way, and its rows change with each owner.
ALTER TABLE "belay"."workflow_live" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_migrations" (
	"id" integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	"tag" text NOT NULL,
	"hash" text,
	"applied_at" timestamp with time zone NOT NULL DEFAULT "belay"."store_now"(),
	"oldest_code" integer NOT NULL DEFAULT 1,
	CONSTRAINT "workflow_migrations_tag_key" UNIQUE("tag")
);
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" ("tag") VALUES ('0000_baseline');
`,
  },
]
