-- Priorities of runs and steps, null for 0. A new table, two columns that no row has yet, and two more columns of a view.
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
-- `available_at` is the step's place: as many minutes before the time when it became ready as `priority` says, and of an undo 2,001.
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
