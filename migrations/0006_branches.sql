ALTER TABLE "belay"."workflow_steps" ADD COLUMN "branch" json;--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0006_branches', 5);
