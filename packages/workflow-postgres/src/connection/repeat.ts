import { isConflict } from '../base/errors.ts'

// Lock orders make deadlocks rare, and each repetition gets past one. So many in a row mean that something else is wrong.
const TRIES_MAX = 6

/** Runs a transaction again, up to TRIES_MAX times in all, if the database aborted it because of another one. */
export async function repeatOnConflict<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (attempt === TRIES_MAX || !isConflict(error)) throw error
    }
  }
}
