import type { Clock, Timer } from '../../clock.ts'
import type { TimeLimit } from '../base/time-limit.ts'

/** The longest time that a handler may go without a heartbeat. */
export interface HeartbeatLimit {
  readonly ms: number
  /** When the newest heartbeat came, or the handler began, by the engine's clock. */
  readonly lastAt: () => number
}

/** Calls `onSilence` once the handler has sent no heartbeat for too long. Heartbeats set no timers: one that fires looks at the newest. */
export function watchHeartbeats(
  clock: Clock,
  { ms, lastAt }: HeartbeatLimit,
  onSilence: (limit: TimeLimit) => void,
): Pick<Timer, 'cancel'> {
  let timer: Timer
  const look = () => {
    const leftMs = lastAt() + ms - clock.now()
    if (leftMs <= 0) onSilence({ ms, option: 'heartbeatTimeout' })
    else timer = clock.after(leftMs, look)
  }
  timer = clock.after(ms, look)
  return { cancel: () => timer.cancel() }
}
