-- Calls of run() that are collected into runs. New tables.
CREATE TABLE "belay"."workflow_collected_calls" (
	"run_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"definition_id" integer NOT NULL,
	"call_id" uuid NOT NULL,
	"key" text NOT NULL,
	"input_hash" text,
	CONSTRAINT "workflow_collected_calls_pkey" PRIMARY KEY("run_id","position")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_collections" (
	"definition_id" integer NOT NULL,
	"calls" integer DEFAULT 0 NOT NULL,
	"input_bytes" integer DEFAULT 0 NOT NULL,
	"run_id" uuid,
	"opened_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"closes_at" timestamp with time zone,
	"mode" text,
	"key" text NOT NULL,
	CONSTRAINT "workflow_collections_pkey" PRIMARY KEY("definition_id","key"),
	CONSTRAINT "workflow_collections_mode_allowed" CHECK (("belay"."workflow_collections"."mode" in ('debounce', 'throttle', 'batch')))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "workflow_collected_calls_call_key" ON "belay"."workflow_collected_calls" USING btree ("call_id");
--> statement-breakpoint
-- Each call updates the row of its key, and no index: a page with room keeps the new version.
ALTER TABLE "belay"."workflow_collections" SET (fillfactor = 50);
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0014_collected_calls', 5);
