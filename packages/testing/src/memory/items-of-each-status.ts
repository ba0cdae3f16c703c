import { type ItemsOfEachStatus, isItem, type StepRecord, templateOf } from '@belay/workflow/adapter'

export function itemsOfEachStatus(
  steps: readonly StepRecord[],
  { eachStatusMax }: ItemsOfEachStatus,
): readonly StepRecord[] {
  const groups = new Map<string, StepRecord[]>()
  for (const row of steps.filter(({ step }) => isItem(step))) {
    const name = `${templateOf(row.step)} ${row.status}`
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [{ ...row, output: null }])
    else group.push({ ...row, output: null })
  }
  return [...groups.values()]
    .flatMap((group) =>
      group[0]!.status === 'compensating' ? group.slice(-eachStatusMax) : group.slice(0, eachStatusMax),
    )
    .sort((one, other) => one.step - other.step)
}
