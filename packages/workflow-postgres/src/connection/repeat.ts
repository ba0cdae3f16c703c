import { isConflict } from '../base/errors.ts'

// Lock orders make deadlocks rare, and each repetition gets past one: more in a row mean that something else is wrong.
const TRIES_MAX = 6

/** Runs a transaction again, a bounded number of times, when the database gave it up for the sake of another. */
export async function repeatOnConflict<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (attempt === TRIES_MAX || !isConflict(error)) throw error
    }
  }
}
