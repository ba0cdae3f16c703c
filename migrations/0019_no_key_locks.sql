-- A row of the application's with a foreign key to a step holds that step FOR KEY SHARE while its transaction is open. Entering limits changes no key of a
-- step, so it need not wait for such a transaction. The function stays as it is but for that one lock.
DO $do$
BEGIN
  EXECUTE replace(
    pg_catalog.pg_get_functiondef('"belay"."enter_limits"'::pg_catalog.regproc),
    'for update of s', 'for no key update of s'
  );
END
$do$;
--> statement-breakpoint
INSERT INTO "belay"."workflow_migrations" (tag, oldest_code) VALUES ('0019_no_key_locks', 5);
