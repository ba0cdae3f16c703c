import type { WakeHint } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'

/** Called when work may have become claimable. Without a hint, it may be of any definition. */
export type WakeListener = (hint?: WakeHint) => void

/** How processes tell each other that work may have become claimable. It is a hint: it may be missing, late or wrong. */
export interface Wakeup {
  onWake(listener: WakeListener): () => void
  /** Work of these definitions; if omitted, of any. */
  wake(definitionIds?: readonly number[]): void
  /** The same for work that becomes claimable when a transaction commits, if the store can tell. Otherwise the next tick finds it. */
  wakeAfter?(transaction: Connection, definitionIds?: readonly number[]): Promise<void>
  /** Sends what is still owed, which takes a second at most. */
  close(): Promise<void>
}

/** At most one hint in this time, in milliseconds: each notification briefly takes a database-wide lock. */
const COALESCE_MS = 5
/** How long closing waits for hints to be sent. Without them the next tick finds the work. */
const FLUSH_MS = 1_000

/**
 * Merges calls within a short time into one call of `send`. It gets all definitions that they named, or none if one of them named none. The first
 * call is sent at once; the next one is sent when the one before has ended.
 */
export function coalesced(send: (hint: WakeHint | undefined) => Promise<unknown> | undefined): {
  (definitionIds?: readonly number[]): void
  /** Sends what is owed without a pause, and nothing that is asked for from now on. Resolves when it was sent, or after a bounded time. */
  flush(): Promise<void>
} {
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<unknown> | undefined
  let owed: Set<number> | 'any' | null = null
  let isClosed = false
  const fire = () => {
    if (owed === null || timer !== undefined || sending !== undefined) return
    const hint = owed === 'any' ? undefined : { definitionIds: [...owed], draw: Math.random() }
    owed = null
    timer = setTimeout(() => {
      timer = undefined
      fire()
    }, COALESCE_MS)
    // A pending hint must not keep a process alive. In browsers, timers are numbers.
    if (typeof timer === 'object') timer.unref?.()
    sending = send(hint)?.then(ended, ended)
  }
  const ended = () => {
    sending = undefined
    fire()
  }
  const rest = () => {
    if (timer !== undefined) clearTimeout(timer)
    timer = undefined
  }
  const call = (definitionIds?: readonly number[]) => {
    if (isClosed || definitionIds?.length === 0) return
    if (definitionIds === undefined || owed === 'any') owed = 'any'
    else owed = new Set([...(owed ?? []), ...definitionIds])
    fire()
  }
  return Object.assign(call, {
    async flush() {
      isClosed = true
      const { over, cancel } = deadline(FLUSH_MS)
      for (;;) {
        rest()
        fire()
        if (sending === undefined || (await Promise.race([sending, over])) === 'over') break
      }
      cancel()
      rest()
      owed = null
    },
  })
}

function deadline(ms: number): { readonly over: Promise<'over'>; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<'over'>((resolve) => {
    timer = setTimeout(() => resolve('over'), ms)
  })
  return { over, cancel: () => clearTimeout(timer) }
}

/** For a store within this process. `everyone` is shared by all adapters on it. */
export function localWakeup(everyone: Set<WakeListener>): Wakeup {
  const own = new Set<WakeListener>()
  const send = coalesced((hint) => {
    for (const listener of everyone) listener(hint)
    return undefined
  })
  const forget = (listener: WakeListener) => {
    own.delete(listener)
    everyone.delete(listener)
  }
  return {
    onWake(listener) {
      // A new function, so that a listener given twice is called twice.
      const call: WakeListener = (hint) => listener(hint)
      own.add(call)
      everyone.add(call)
      return () => forget(call)
    },
    wake: send,
    async close() {
      await send.flush()
      for (const listener of own) forget(listener)
    },
  }
}
