-- What steps tell while they run. A new table only: code of the release before does not know it, and runs on.
CREATE TABLE "belay"."workflow_values" (
	"run_id" uuid NOT NULL,
	"step" integer NOT NULL,
	"fence" integer NOT NULL,
	"sequence" integer NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"key" text NOT NULL,
	"value" json NOT NULL,
	CONSTRAINT "workflow_values_pkey" PRIMARY KEY("run_id","step","key")
);--> statement-breakpoint
-- Progress is written again and again: half-empty pages let an updated row stay on its page.
ALTER TABLE "belay"."workflow_values" SET (fillfactor = 50);--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0006_published_values', 5);
