import { type Plain, pathTo, shownPlain } from './plain-copy.ts'

/** Where two copies differ, like `charges[0]: nothing → "c-1"`. */
export function differences(before: Plain, after: Plain, path = ''): readonly string[] {
  // A balance of -0 is one of 0.
  if (before === after || Object.is(before, after)) return []
  const [one, other] = [entriesOf(before), entriesOf(after)]
  if (one === undefined || other === undefined || Array.isArray(before) !== Array.isArray(after))
    return [`${path === '' ? 'the whole' : path}: ${shownPlain(before)} → ${shownPlain(after)}`]
  const keys = [...new Set([...one.keys(), ...other.keys()])]
  return keys.flatMap((key) =>
    differences(one.get(key), other.get(key), Array.isArray(before) ? `${path}[${key}]` : pathTo(path, key)),
  )
}

function entriesOf(value: Plain): ReadonlyMap<string, Plain> | undefined {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined
}
