CREATE TABLE "belay"."workflow_firings" (
	"schedule" text COLLATE "C" NOT NULL,
	"sequence" integer NOT NULL,
	"scheduled_at" timestamp with time zone NOT NULL,
	"until_at" timestamp with time zone,
	"decided_at" timestamp with time zone NOT NULL,
	"cause" text NOT NULL,
	"status" text NOT NULL,
	"run_id" uuid,
	"is_open" boolean NOT NULL,
	"reason" text,
	CONSTRAINT "workflow_firings_pkey" PRIMARY KEY("schedule","sequence"),
	CONSTRAINT "workflow_firings_status_allowed" CHECK (("belay"."workflow_firings"."status" in ('started', 'queued', 'skipped', 'missed', 'failed')))
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_schedules" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workflow" text NOT NULL,
	"declared" boolean NOT NULL,
	"revision" integer NOT NULL,
	"firings" integer NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"paused_at" timestamp with time zone,
	"next_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"pause_reason" text,
	"spec" json NOT NULL,
	"input" json,
	CONSTRAINT "workflow_schedules_paused_is_not_due" CHECK ("belay"."workflow_schedules"."paused_at" is null or "belay"."workflow_schedules"."due_at" is null)
);
--> statement-breakpoint
CREATE INDEX "workflow_firings_open_idx" ON "belay"."workflow_firings" USING btree ("schedule","sequence") WHERE "belay"."workflow_firings"."is_open";--> statement-breakpoint
CREATE INDEX "workflow_firings_failed_idx" ON "belay"."workflow_firings" USING btree ("schedule","sequence") WHERE "belay"."workflow_firings"."status" = 'failed';--> statement-breakpoint
CREATE INDEX "workflow_schedules_due_idx" ON "belay"."workflow_schedules" USING btree ("due_at","name") WHERE "belay"."workflow_schedules"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "workflow_schedules_declared_idx" ON "belay"."workflow_schedules" USING btree ("name") WHERE "belay"."workflow_schedules"."declared";--> statement-breakpoint
CREATE INDEX "workflow_schedules_workflow_idx" ON "belay"."workflow_schedules" USING btree ("workflow","name");
--> statement-breakpoint
-- Schedules, with how their newest firing ended. For people: read it with a limit, or by name.
CREATE VIEW "belay"."workflow_schedules_overview" AS
SELECT
  s.name,
  s.workflow,
  s.spec ->> 'version' AS version,
  coalesce(s.spec -> 'timing' ->> 'cron', 'every ' || (s.spec -> 'timing' ->> 'everyMs') || ' ms') AS timing,
  s.spec -> 'timing' ->> 'timeZone' AS time_zone,
  s.spec ->> 'overlap' AS overlap,
  s.spec ->> 'catchUp' AS catch_up,
  CASE WHEN s.paused_at IS NOT NULL THEN 'paused' WHEN s.next_at IS NULL THEN 'ended' ELSE 'active' END AS status,
  s.pause_reason,
  s.declared,
  s.next_at,
  greatest("belay"."store_now"() - s.due_at, interval '0') AS late_by,
  s.firings,
  newest.scheduled_at AS last_scheduled_at,
  newest.status AS last_status,
  newest.run_id AS last_run_id,
  newest.reason AS last_reason,
  (SELECT count(*) FROM "belay"."workflow_firings" f WHERE f.is_open AND f.schedule = s.name AND f.status = 'queued')::int AS waiting
FROM "belay"."workflow_schedules" s
LEFT JOIN "belay"."workflow_firings" newest ON newest.schedule = s.name AND newest.sequence = s.firings;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0015_schedules', 5);
