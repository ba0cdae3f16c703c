import type { Connection } from './connection/connection.ts'

/** How processes tell each other that work may have become claimable. A hint: it may be missing, late or false. */
export interface Wakeup {
  onWake(listener: () => void): () => void
  wake(): void
  /** The same for what a transaction makes claimable: once it commits, if the store can tell. Else work is found at the next tick. */
  wakeAfter?(transaction: Connection): Promise<void>
  close(): Promise<void>
}

/** At most one hint in this time: each notification takes a database-wide lock for a moment. */
const COALESCE_MS = 5

/** Calls `send` once for any number of calls in a short time; the first of them at once. */
export function coalesced(send: () => void): { (): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let again = false
  const fire = () => {
    again = false
    send()
    timer = setTimeout(rest, COALESCE_MS)
    // The hint that is owed must not keep a process alive; browsers' timers are numbers.
    if (typeof timer === 'object') timer.unref?.()
  }
  const rest = () => {
    timer = undefined
    if (again) fire()
  }
  const call = () => {
    if (timer === undefined) fire()
    else again = true
  }
  return Object.assign(call, {
    stop() {
      if (timer !== undefined) clearTimeout(timer)
      timer = undefined
      again = false
    },
  })
}

/** For a store that lives in this process: `everyone` is shared by the adapters on it. */
export function localWakeup(everyone: Set<() => void>): Wakeup {
  const own = new Set<() => void>()
  const send = coalesced(() => {
    for (const listener of everyone) listener()
  })
  const forget = (listener: () => void) => {
    own.delete(listener)
    everyone.delete(listener)
  }
  return {
    onWake(listener) {
      // A function of its own, so that one listener given twice is two.
      const call = () => listener()
      own.add(call)
      everyone.add(call)
      return () => forget(call)
    },
    wake: send,
    async close() {
      send.stop()
      for (const listener of own) forget(listener)
    },
  }
}
