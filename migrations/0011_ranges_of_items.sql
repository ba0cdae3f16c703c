-- One row of the queue for many items of a map. A new table and a view.
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
