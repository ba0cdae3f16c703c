-- The rows of the queue have no key: two hints for one step are no mistake. Where a publication has these tables, as FOR ALL TABLES does, the server
-- refuses to delete rows that nothing identifies. Changes the catalog only, each under a lock for a moment. Rows cost more log only where wal_level is
-- logical.
ALTER TABLE "belay"."workflow_ready_late" REPLICA IDENTITY FULL;
--> statement-breakpoint
ALTER TABLE "belay"."workflow_ready_items" REPLICA IDENTITY FULL;
--> statement-breakpoint
ALTER TABLE "belay"."workflow_ready" REPLICA IDENTITY FULL;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0018_replica_identity', 5);
