ALTER TABLE "belay"."workflow_runs" DROP CONSTRAINT "workflow_runs_status_allowed";--> statement-breakpoint
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
