import { readdirSync, readFileSync } from 'node:fs'

/** The ids of all processes below one; empty where the system does not tell (elsewhere than on Linux). */
export function descendants(pid: number): readonly number[] {
  const byParent = new Map<number, number[]>()
  for (const name of processIds()) {
    const parent = parentOf(name)
    if (parent !== undefined) byParent.set(parent, [...(byParent.get(parent) ?? []), Number(name)])
  }
  const found: number[] = []
  const open = [pid]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const children = byParent.get(next) ?? []
    found.push(...children)
    open.push(...children)
  }
  return found
}

function processIds(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))
  } catch {
    return []
  }
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name, which may contain anything; the parent is the fourth.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}
