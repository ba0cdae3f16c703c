CREATE SCHEMA IF NOT EXISTS "belay";
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
CREATE INDEX "workflow_runs_draining_idx" ON "belay"."workflow_runs" USING btree ("id") WHERE "belay"."workflow_runs"."status" = 'compensating' and "belay"."workflow_runs"."ends_as" is null;