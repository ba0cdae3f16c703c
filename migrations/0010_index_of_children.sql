-- Outside a transaction: the index is built while runs go on.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "workflow_runs_parent_idx" ON "belay"."workflow_runs" USING btree ("parent_run_id","id") WHERE "belay"."workflow_runs"."parent_run_id" is not null;--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0010_index_of_children', 5) ON CONFLICT DO NOTHING;
