-- Ends of runs that somebody waits for, and which run a run was started for. New tables, columns that may be null, and a trigger that does nothing for
-- runs of the release before.
CREATE TABLE "belay"."workflow_children" (
	"parent_run_id" uuid NOT NULL,
	"run_id" uuid NOT NULL,
	CONSTRAINT "workflow_children_pkey" PRIMARY KEY("parent_run_id","run_id")
);
--> statement-breakpoint
CREATE TABLE "belay"."workflow_run_ends" (
	"sequence" bigint GENERATED ALWAYS AS IDENTITY (sequence name "belay"."workflow_run_ends_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" uuid NOT NULL,
	"definition_id" integer NOT NULL,
	"status" text NOT NULL,
	CONSTRAINT "workflow_run_ends_pkey" PRIMARY KEY("definition_id","sequence"),
	CONSTRAINT "workflow_run_ends_status_allowed" CHECK (("belay"."workflow_run_ends"."status" in ('completed', 'failed', 'compensated', 'cancelled')))
);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "parent_run_id" uuid;--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "parent_step" integer;--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "reports_end" boolean;--> statement-breakpoint
CREATE INDEX "workflow_run_ends_run_idx" ON "belay"."workflow_run_ends" USING btree ("run_id");
--> statement-breakpoint
-- Whatever ends a run that reports its ends leaves a row here, in the same commit.
CREATE FUNCTION "belay"."report_run_end"() RETURNS trigger
LANGUAGE plpgsql
AS $$
begin
  insert into "belay"."workflow_run_ends" (run_id, definition_id, status) values (new.id, new.definition_id, new.status);
  return null;
end
$$;
--> statement-breakpoint
CREATE TRIGGER workflow_runs_report_end AFTER UPDATE OF status ON "belay"."workflow_runs"
FOR EACH ROW WHEN (new.reports_end AND new.finished_at IS NOT NULL AND old.finished_at IS NULL)
EXECUTE FUNCTION "belay"."report_run_end"();
--> statement-breakpoint
CREATE OR REPLACE VIEW "belay"."workflow_run_overview" AS
SELECT
  r.id AS run_id,
  r.workflow,
  d.version,
  r.key,
  r.status,
  r.stop,
  r.cause,
  r.created_at,
  r.finished_at,
  coalesce(r.finished_at, "belay"."store_now"()) - r.created_at AS duration,
  r.start_at,
  r.deadline_at,
  -- To be read, not to be searched by: the stored status is what is indexed.
  CASE WHEN r.status = 'compensating' AND r.ends_as IS NULL THEN 'compensating (draining)'
    ELSE "belay"."shown_status"(r.id, r.status, r.start_at) END AS shown_status,
  r.parent_run_id,
  r.parent_step
FROM "belay"."workflow_runs" r
JOIN "belay"."workflow_definitions" d ON d.id = r.definition_id;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0009_ends_of_runs', 5);
