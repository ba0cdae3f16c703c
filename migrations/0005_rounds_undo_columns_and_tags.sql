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
-- Of steps that an operator had asked anew: their keys may be sent again.
UPDATE "belay"."workflow_signals" g SET "superseded" = 1 FROM "belay"."workflow_steps" s
  WHERE s."run_id" = g."run_id" AND s."step" = g."step" AND s."signalled_at" IS NULL;--> statement-breakpoint
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
CREATE INDEX "workflow_runs_deadline_idx" ON "belay"."workflow_runs" USING btree ("deadline_at") WHERE "belay"."workflow_runs"."deadline_at" is not null and "belay"."workflow_runs"."stop" is null and ("belay"."workflow_runs"."status" in ('running', 'paused'));--> statement-breakpoint
ALTER TABLE "belay"."workflow_signals" DROP CONSTRAINT "workflow_signals_pkey";
--> statement-breakpoint
ALTER TABLE "belay"."workflow_signals" ADD CONSTRAINT "workflow_signals_pkey" PRIMARY KEY("run_id","step","key","superseded");--> statement-breakpoint
-- Not validated: it allows more than the one it replaces, so every row has it already.
ALTER TABLE "belay"."workflow_runs" ADD CONSTRAINT "workflow_runs_fits_status" CHECK (case "belay"."workflow_runs"."status"
    when 'running' then "belay"."workflow_runs"."stop" is null and "belay"."workflow_runs"."finished_at" is null
    when 'completed' then "belay"."workflow_runs"."stop" is null and "belay"."workflow_runs"."finished_at" is not null
    when 'compensating' then "belay"."workflow_runs"."stop" is not null and "belay"."workflow_runs"."finished_at" is null
    when 'compensation_failed' then "belay"."workflow_runs"."stop" is not null and "belay"."workflow_runs"."finished_at" is null
    when 'compensated' then "belay"."workflow_runs"."stop" is not null and "belay"."workflow_runs"."finished_at" is not null
    when 'failed' then "belay"."workflow_runs"."stop" is not null and "belay"."workflow_runs"."finished_at" is not null
    when 'cancelled' then "belay"."workflow_runs"."stop" is not null and "belay"."workflow_runs"."finished_at" is not null
    when 'paused' then "belay"."workflow_runs"."finished_at" is null
    when 'scheduled' then "belay"."workflow_runs"."stop" is null and "belay"."workflow_runs"."finished_at" is null
    when 'waiting' then "belay"."workflow_runs"."stop" is null and "belay"."workflow_runs"."finished_at" is null
    else false end) NOT VALID;--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag) VALUES ('0005_rounds_undo_columns_and_tags');
