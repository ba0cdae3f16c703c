/**
 * The rounds of a race: as many as asked for, and then more until two different outcomes were met, at most ten times as many. Which caller comes
 * first is up to the server, so a fixed number of rounds may meet only one outcome.
 */
export function* rounds(least: number, met: ReadonlySet<unknown>): Generator<number> {
  for (let round = 0; round < least || (met.size < 2 && round < least * 10); round += 1) yield round
}
