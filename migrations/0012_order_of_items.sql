-- Which items of a map wait for their turn, if an operator's action left others between them that have ended.
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "item_order" integer[];
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0012_order_of_items', 5);
