CREATE TABLE "belay"."workflow_leases" (
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
