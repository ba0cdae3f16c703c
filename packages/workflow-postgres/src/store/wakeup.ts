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
  close(): Promise<void>
}

/** At most one hint in this time, in milliseconds: each notification briefly takes a database-wide lock. */
const COALESCE_MS = 5

/**
 * Merges calls within a short time into one call of `send`. It gets all definitions that they named, or none if one of them named none. The first
 * call is sent at once; the next one is sent when the one before has ended.
 */
export function coalesced(send: (hint: WakeHint | undefined) => Promise<unknown> | undefined): {
  (definitionIds?: readonly number[]): void
  stop(): void
} {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isSending = false
  let owed: Set<number> | 'any' | null = null
  const fire = () => {
    if (owed === null || timer !== undefined || isSending) return
    const hint = owed === 'any' ? undefined : { definitionIds: [...owed], draw: Math.random() }
    owed = null
    timer = setTimeout(() => {
      timer = undefined
      fire()
    }, COALESCE_MS)
    // A pending hint must not keep a process alive. In browsers, timers are numbers.
    if (typeof timer === 'object') timer.unref?.()
    const sending = send(hint)
    if (sending === undefined) return
    isSending = true
    void sending.then(ended, ended)
  }
  const ended = () => {
    isSending = false
    fire()
  }
  const call = (definitionIds?: readonly number[]) => {
    if (definitionIds?.length === 0) return
    if (definitionIds === undefined || owed === 'any') owed = 'any'
    else owed = new Set([...(owed ?? []), ...definitionIds])
    fire()
  }
  return Object.assign(call, {
    stop() {
      if (timer !== undefined) clearTimeout(timer)
      timer = undefined
      owed = null
    },
  })
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
      send.stop()
      for (const listener of own) forget(listener)
    },
  }
}
