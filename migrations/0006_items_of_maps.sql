ALTER TABLE "belay"."workflow_steps" ADD COLUMN "item_key" text;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "item" json;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "at_once" integer;--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "next_item" integer;--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0006_items_of_maps', 5);
