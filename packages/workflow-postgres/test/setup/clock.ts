type Run = (text: string) => Promise<unknown>

export interface StandingClock {
  /** Sets the clock back to where it began. */
  reset(): Promise<void>
  advance(ms: number): Promise<void>
}

const START = Date.UTC(2025, 0, 1)

/**
 * Replaces a store's clock by one that stands still and moves only when told. Its functions read a table: replacing them for every instant would
 * discard every plan that the store's connections have made.
 */
export async function setClock(run: Run, schema: string): Promise<StandingClock> {
  const table = `"${schema}".clock_of_tests`
  let now = START
  const show = async (instant: number) => {
    now = instant
    await run(`update ${table} set now = '${new Date(now).toISOString()}'`)
  }
  await run(`create table ${table} as select timestamptz '${new Date(START).toISOString()}' as now`)
  for (const [name, volatility] of [
    ['store_now', 'stable'],
    ['store_clock', 'volatile'],
  ]) {
    await run(
      `create or replace function "${schema}".${name}() returns timestamptz language plpgsql ${volatility} parallel safe as $$ begin return (select now from ${table}); end $$`,
    )
  }
  return { reset: () => show(START), advance: (ms) => show(now + ms) }
}
