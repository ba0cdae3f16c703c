/** Replaces a store's clock by one that stands still and moves only when told. */
export async function setClock(
  run: (text: string) => Promise<unknown>,
  schema: string,
): Promise<{ advance(ms: number): Promise<void> }> {
  let now = Date.UTC(2025, 0, 1)
  const show = async () => {
    for (const reading of [
      'store_now() returns timestamptz language sql stable',
      'store_clock() returns timestamptz language sql volatile',
    ]) {
      await run(
        `create or replace function "${schema}".${reading} parallel safe as $$ select timestamptz '${new Date(now).toISOString()}' $$`,
      )
    }
  }
  await show()
  return {
    async advance(ms) {
      now += ms
      await show()
    },
  }
}
