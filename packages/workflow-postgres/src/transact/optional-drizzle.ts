import { BelayError, sentence } from '@belay/workflow/adapter'

/** The user's own drizzle-orm, which Belay works without. */
export interface OptionalDrizzle<Over> {
  /** Loads it, once in a process. Never rejects: most handlers do not use it. */
  readonly load: () => Promise<void>
  /** Throws `store_misconfigured` if it could not be loaded. */
  readonly get: () => Over
}

/** `packages` are those that `tx.drizzle` needs, as npm installs them. */
export function optionalDrizzle<Over>(
  packages: string,
  importing: () => Promise<Over>,
): OptionalDrizzle<Over> {
  let loading: Promise<void> | undefined
  let loaded: Over | undefined
  let cause: unknown
  const load = async () => {
    try {
      loaded = await importing()
    } catch (error) {
      cause = error
    }
  }
  return {
    async load() {
      loading ??= load()
      await loading
    },
    get() {
      if (loaded !== undefined) return loaded
      throw new BelayError(
        'store_misconfigured',
        `tx.drizzle needs drizzle-orm, which could not be loaded: ${sentence(String(cause))} Run \`npm install ${packages}\`, or use tx.client.`,
        { cause },
      )
    },
  }
}

/**
 * Replaces the type of `tx.drizzle` if drizzle-orm is not installed: the compiler makes `any` of a type that it cannot find. In tuples, because it does
 * not look further at a condition that is such a type itself.
 */
export type Installed<Drizzle> = [0] extends [1 & Drizzle] ? DrizzleIsNotInstalled : Drizzle

/** What tells users why `tx.drizzle` has no methods. */
export interface DrizzleIsNotInstalled {
  readonly 'install drizzle-orm to use tx.drizzle': never
}
