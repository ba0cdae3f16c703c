-- What drizzle-kit cannot generate: the clock, the views for people, and storage settings.

-- Every statement takes its time from here, so that a test can control time by replacing it.
CREATE FUNCTION "belay"."store_now"() RETURNS timestamp with time zone
LANGUAGE sql STABLE PARALLEL SAFE
AS $$ select pg_catalog.now() $$;
--> statement-breakpoint
-- Room on each page for new versions of its rows: most updates of a step then touch no index.
ALTER TABLE "belay"."workflow_steps" SET (fillfactor = 50);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_runs" SET (fillfactor = 70);
--> statement-breakpoint
ALTER TABLE "belay"."workflow_workers" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
--> statement-breakpoint
-- The queue lives by inserts and deletes: claims walk over every dead row that is left lying.
ALTER TABLE "belay"."workflow_ready" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
--> statement-breakpoint
CREATE VIEW "belay"."workflow_run_overview" AS
SELECT
  r.id AS run_id,
  r.workflow,
  d.version,
  r.key,
  CASE WHEN r.status = 'compensating' AND r.ends_as IS NULL THEN 'compensating (draining)' ELSE r.status END AS status,
  r.stop,
  r.cause,
  r.created_at,
  r.finished_at,
  coalesce(r.finished_at, "belay"."store_now"()) - r.created_at AS duration
FROM "belay"."workflow_runs" r
JOIN "belay"."workflow_definitions" d ON d.id = r.definition_id;
--> statement-breakpoint
CREATE VIEW "belay"."workflow_step_overview" AS
SELECT
  s.run_id,
  r.workflow,
  r.key,
  s.step,
  ds.name,
  s.status,
  s.undo_of,
  ARRAY(
    SELECT dependency.name
    FROM unnest(ds.dependencies) AS number
    JOIN "belay"."workflow_definition_steps" dependency
      ON dependency.definition_id = r.definition_id AND dependency.step = number
    ORDER BY number
  ) AS depends_on,
  s.open_dependencies,
  s.attempt,
  s.failures,
  s.losses,
  w.name AS worker,
  s.worker_id,
  s.started_at,
  s.finished_at,
  coalesce(s.finished_at, "belay"."store_now"()) - s.started_at AS duration,
  s.output,
  s.error
FROM "belay"."workflow_steps" s
JOIN "belay"."workflow_runs" r ON r.id = s.run_id
JOIN "belay"."workflow_definition_steps" ds ON ds.definition_id = r.definition_id AND ds.step = s.step
LEFT JOIN "belay"."workflow_workers" w ON w.id = s.worker_id;
--> statement-breakpoint
-- What has been applied. Each migration adds its own row, so that running the files by hand counts too; migrate() adds the hash.
CREATE TABLE "belay"."workflow_migrations" (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tag text NOT NULL,
  hash text,
  applied_at timestamp with time zone NOT NULL DEFAULT "belay"."store_now"(),
  CONSTRAINT workflow_migrations_tag_key UNIQUE (tag)
);
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag) VALUES ('0000_tables'), ('0001_clock_views_and_storage');
