// docs/errors.md is generated from these comments: `npm run docs -- --write`.

/**
 * Every code that a {@link BelayError} can carry. Codes are stable: match on them, not on messages. A code is either the error of a call that
 * rejects, or the error of an attempt, which is stored with its step.
 */
export type BelayErrorCode =
  // Definitions and options
  /**
   * A workflow's definition cannot run: a cycle, an unknown dependency, a duplicate or invalid name, a missing handler.
   *
   * From: `define()`, `defineGraph()` and the builder, as a {@link DefinitionError}
   *
   * Remedy: Correct each entry of `problems`: it names the step, the wrong name and the nearest valid one.
   */
  | 'invalid_definition'
  /**
   * An option or an argument is missing, unknown or out of range, or a named step does not exist or does not fit the call.
   *
   * From: every public function
   *
   * Remedy: Correct the option that the message names. It gives the value received, the accepted values and the nearest valid name.
   */
  | 'invalid_option'
  /**
   * A schema refused a run's input or a signal's payload, or the schema itself threw. Nothing was stored.
   *
   * From: `run()`, `runMany()`, `signal()`, `approve()`; a step that starts a child fails with it
   *
   * Remedy: Send a valid value. `cause` holds the schema's issues.
   */
  | 'invalid_input'
  /**
   * This version of the workflow is stored with another graph.
   *
   * From: `start()`, `run()` and `migrateRun()`
   *
   * Remedy: Give the changed graph the next version number, and keep the old definition registered until its runs have ended.
   */
  | 'definition_changed'
  /**
   * No definition with this name, or this version, is known to the engine or stored.
   *
   * From: `run()` by name; a step that starts a child by name
   *
   * Remedy: Correct the name, or start an engine that has the definition in `workflows`: that stores it.
   */
  | 'unknown_workflow'
  // Runs and results
  /**
   * There is no schedule of this name.
   *
   * From: calls of `engine.schedules`
   *
   * Remedy: Use the name that `schedules.put()` was given; `schedules.list()` reads all names.
   */
  | 'unknown_schedule'
  /**
   * No run has this id, or this workflow and key. It may have been pruned.
   *
   * From: every method for one run; also `result()` and `watch()` of a run that is deleted meanwhile
   *
   * Remedy: Check the id or key, and your retention. `runs.get()` answers `undefined` instead of throwing.
   */
  | 'unknown_run'
  /**
   * A run that this process had seen going on is not in the store any more: the store lost its last commits, as after a failover to an asynchronous standby,
   * or the run ended and was deleted at once.
   *
   * From: `result()`, `step()`, `watch()`
   *
   * Remedy: Start the run again with the same key. Look at what its steps may have done in other systems.
   */
  | 'run_lost'
  /**
   * The key is used already, with other content: a run's key with another input, or a signal's key with another payload. Nothing was stored.
   *
   * From: `run()`, `runMany()`, `signal()`
   *
   * Remedy: Use one key for each event. For a run, the error's `runId` is the run that has the key.
   */
  | 'key_conflict'
  /**
   * A limit of the workflow has `atLimit: 'refuse'` and no slot for the run. Nothing was started. The error is a `LimitReachedError`, with `limit`, `key` and
   * `concurrency`.
   *
   * From: `run()`, `runMany()`; a step whose child it is fails without retries
   *
   * Remedy: Try again once a run of this key has ended, tell whoever asked, or use `atLimit: 'wait'`.
   */
  | 'limit_reached'
  /**
   * The run found by its key follows another version of its workflow than the one the handle is typed by.
   *
   * From: `result()` of a handle by key
   *
   * Remedy: Look at `(await run.status()).version`, and read the outputs with a handle of that version or without types.
   */
  | 'other_version'
  /**
   * The run ended without completing. `status`, `cause` and `undo` say how, why, and what was undone.
   *
   * From: `result()`, as a {@link RunFailedError}
   *
   * Remedy: Read `cause` and the undo report. Repair the reason, then `run.retry()`, or start another run.
   */
  | 'run_failed'
  /**
   * The run or step did not end within the `timeout` of the call. The run continues.
   *
   * From: `result()` and `step()` with `timeout`
   *
   * Remedy: Await it again, ask `explain()` what it waits for, or `cancel()` it. The message says so if no live worker can run it: start one.
   */
  | 'result_timeout'
  /**
   * The signal of the call was aborted. The run continues.
   *
   * From: `result()` and `step()` with `signal`
   *
   * Remedy: None is needed. `cause` is the signal's reason.
   */
  | 'result_aborted'
  /**
   * A run was awaited on a virtual clock that nobody moves: nothing can happen any more.
   *
   * From: `result()`, `step()` and `watch()` with `memory()`, two real seconds after the last movement
   *
   * Remedy: Await through the clock, as in `await adapter.clock.runUntil(run.result())`, or use `testWorkflow()`.
   */
  | 'time_stands_still'
  /**
   * The signal of the watch was aborted. The run continues.
   *
   * From: `watch()` with `signal`
   *
   * Remedy: None is needed: this is how a watch ends when its browser has gone.
   */
  | 'watch_aborted'
  /**
   * The step failed for good, was cancelled or undone, or the run ended without it.
   *
   * From: `run.step()`, as a {@link StepFailedError}
   *
   * Remedy: Read `status`, and `cause`: the error of the step's last attempt.
   */
  | 'step_failed'
  /**
   * The run's present state does not allow the action. Nothing was changed.
   *
   * From: `pause()`, `resume()`, `cancel()`, `retry()`, `skipStep()`, `migrateRun()` and the other actions of operators
   *
   * Remedy: The message names the state and what is possible instead. Bulk methods list such runs under `refused`.
   */
  | 'action_refused'
  /**
   * The approval was decided before, differently. Nothing was recorded.
   *
   * From: `approve()`, `reject()`
   *
   * Remedy: The message says who decided and when. After a rejection, `run.retry()` asks anew.
   */
  | 'decision_conflict'
  // Values
  /**
   * A value, or a part of it, has no form in JSON: a function, a cycle, a bigint, a Map, a character that PostgreSQL cannot hold.
   *
   * From: `run()`, `signal()`, `publish()`; a step whose output it is fails without retries
   *
   * Remedy: Use plain data: objects, arrays, strings, numbers, booleans, null.
   */
  | 'payload_unserialisable'
  /**
   * A value is larger than its limit: `payloadMaxBytes` for inputs, outputs and signals, `valueMaxBytes` for published values and heartbeats.
   *
   * From: `run()`, `signal()`, `publish()`, `heartbeat()`; a step whose output it is fails without retries
   *
   * Remedy: Store large content elsewhere and pass a reference, or raise the limit.
   */
  | 'payload_too_large'
  /**
   * The run has as many published keys as `valuesMax` allows.
   *
   * From: `publish()`; or the step fails without retries
   *
   * Remedy: Use the same keys again, put several values into one, or raise `valuesMax`.
   */
  | 'too_many_values'
  // Why an attempt or a step failed
  /**
   * The handler threw a {@link PermanentError}: the step fails without retries.
   *
   * From: your handlers
   *
   * Remedy: Look at its message and `cause`: they are your own.
   */
  | 'permanent'
  /**
   * The handler threw a {@link RetryLaterError}: it chose when the next attempt begins.
   *
   * From: your handlers
   *
   * Remedy: None is needed, unless it was the last attempt.
   */
  | 'retry_later'
  /**
   * The attempt took longer than the step's `timeout`. Whether it took effect is unknown.
   *
   * From: attempts; retried
   *
   * Remedy: Stop when the handler's `signal` fires, or raise `timeout`.
   */
  | 'step_timeout'
  /**
   * The handler did not call `heartbeat()` within `heartbeatTimeout`. Whether it took effect is unknown.
   *
   * From: attempts; retried
   *
   * Remedy: Call `heartbeat()` more often, or find out what the handler waits for.
   */
  | 'heartbeat_timeout'
  /**
   * A function that is no handler did not answer in time: a schema, `when`, `over`, `first`, `until`, `delay`, `for`, `onTimeout`, a `key`, an `input`, an
   * `archive`. Where its step has a `timeout`, that holds (`step_timeout`); otherwise 30 s.
   *
   * From: attempts; retried. The calls that call such functions; a firing of a schedule fails with it
   *
   * Remedy: Give what the function waits for a time limit of its own, or move slow work into a step.
   */
  | 'function_timeout'
  /**
   * A worker took the next attempt only after the time of `retry.for` had passed.
   *
   * From: steps
   *
   * Remedy: Raise `retry.for`, or run more workers.
   */
  | 'retry_window_over'
  /**
   * The step lost its worker `lossesMax` times, and is not tried again. Whether it took effect is unknown.
   *
   * From: steps; not retried
   *
   * Remedy: Its handler may crash its process: look at the workers' logs for exits and lack of memory. Raise `lossesMax` if the losses have
   * another reason.
   */
  | 'worker_lost'
  /**
   * An operator gave up on the handler. Whether it took effect is unknown.
   *
   * From: `giveUpStep()`, as the step's error
   *
   * Remedy: Find out by hand what the handler did.
   */
  | 'outcome_unknown'
  /**
   * No signal and no decision came within the step's `timeout`.
   *
   * From: steps of `.waitForSignal()` and `.approval()`; not retried
   *
   * Remedy: Give `onTimeout` or `onFailure: 'continue'` if that is a normal case. `run.retry()` waits again.
   */
  | 'signal_timeout'
  /**
   * A person rejected the approval.
   *
   * From: steps of `.approval()`; not retried
   *
   * Remedy: Give `onFailure: 'continue'` if that is a normal case. `run.retry()` asks anew.
   */
  | 'approval_rejected'
  /**
   * The poll had no answer within its `timeout`.
   *
   * From: steps of `.poll()`; not retried
   *
   * Remedy: Raise `timeout`, or look at the system that is polled.
   */
  | 'poll_timeout'
  /**
   * The loop's last allowed round ended, and `until` had not returned true.
   *
   * From: rounds of `.repeat()`; not retried
   *
   * Remedy: Raise `max`, or let `until` end the loop earlier.
   */
  | 'rounds_exhausted'
  /**
   * The child run did not complete.
   *
   * From: steps that wait for a child; not retried
   *
   * Remedy: Look at the child, which the error's `cause` and `explain()` name. `run.retry()` of the parent goes on.
   */
  | 'child_failed'
  // What a handler's signal or call tells it
  /**
   * The worker's lease ended, and its steps may run elsewhere. The attempt's result will be discarded.
   *
   * From: the reason of the handler's `signal`
   *
   * Remedy: Stop working. If it happens often, the process was paused, its event loop was blocked, or the database was out of reach for longer
   * than `lease`.
   */
  | 'lease_lost'
  /**
   * The run failed elsewhere, was cancelled or passed its deadline.
   *
   * From: the reason of the handler's `signal`
   *
   * Remedy: Stop soon. If the handler completes anyway, its step is undone.
   */
  | 'run_stopping'
  /**
   * The worker must leave and waits no longer. The step runs again elsewhere, without a failure counted.
   *
   * From: the reason of the handler's `signal`
   *
   * Remedy: Stop soon. Give `close()` a longer `timeout` if handlers need it.
   */
  | 'worker_stopping'
  /**
   * The attempt is over, so nothing can be told for it any more.
   *
   * From: `publish()`, `progress()`, `heartbeat()`
   *
   * Remedy: Await these calls before the handler returns, and stop when its `signal` fires.
   */
  | 'attempt_ended'
  // Transactions
  /**
   * The step's transaction is over: the handler ended it itself, or used it after its attempt.
   *
   * From: `tx` of transactional steps; a step whose handler committed fails without retries
   *
   * Remedy: Remove COMMIT, ROLLBACK and `release()`: throw to roll back. Await everything that uses `tx`.
   */
  | 'transaction_ended'
  /**
   * A statement of the transaction failed and the handler went on, or it made the transaction read only. Nothing was written.
   *
   * From: transactional steps; retried
   *
   * Remedy: Let the handler throw the statement's error, or run what may fail in a savepoint.
   */
  | 'transaction_failed'
  // Engine and database
  /**
   * The engine or its adapter is closed.
   *
   * From: every method after `close()`; a `result()`, `step()` or `watch()` that was under way
   *
   * Remedy: Close the engine last. The run itself continues on other workers.
   */
  | 'engine_closed'
  /**
   * Belay's tables are not there.
   *
   * From: the first call that opens the adapter
   *
   * Remedy: Run `migrate()` in a deployment step, or pass `autoMigrate: true`. Check the option `schema`.
   */
  | 'schema_missing'
  /**
   * Belay's tables are older than this code.
   *
   * From: the first call that opens the adapter
   *
   * Remedy: Run `migrate()` before you start this release.
   */
  | 'schema_outdated'
  /**
   * A migration of a later release does not allow code this old.
   *
   * From: the first call that opens the adapter; workers that were running
   *
   * Remedy: Update this process to that release or a later one.
   */
  | 'schema_too_new'
  /**
   * The migration stops older code, and workers of older code are running.
   *
   * From: `migrate()`
   *
   * Remedy: Stop the workers that the message names, and migrate again.
   */
  | 'workers_running'
  /**
   * The database cannot be reached, or the connection broke. Whether the statement took effect is unknown.
   *
   * From: every call, as a {@link StoreUnavailableError}; workers wait and try again by themselves
   *
   * Remedy: Repeat the call: with a `key` a repeated `run()` starts nothing twice. Check the database, the network and the size of the pool.
   */
  | 'store_unavailable'
  /**
   * Another transaction has kept a needed row locked for too long. Nothing was written.
   *
   * From: `run()` with `tx`, signals, actions of operators, `migrate()`, as a {@link StoreContendedError}
   *
   * Remedy: End the other transaction, which may be one of yours that is idle, and repeat the call.
   */
  | 'store_contended'
  /**
   * The database or the pool cannot be used as it is: a bad connection string, a pool that is too small, missing rights, an unsuitable setting.
   *
   * From: the first call that opens the adapter; `start()`
   *
   * Remedy: Correct what the message names.
   */
  | 'store_misconfigured'
  /**
   * Another process uses the PGlite directory.
   *
   * From: `pglite(directory)`
   *
   * Remedy: Stop the other process, choose another directory, or use PostgreSQL to share.
   */
  | 'directory_in_use'
