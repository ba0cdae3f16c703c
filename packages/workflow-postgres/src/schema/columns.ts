import { type pgSchema, timestamp } from 'drizzle-orm/pg-core'

export type Schema = ReturnType<typeof pgSchema>

export function instant(name: string) {
  return timestamp(name, { withTimezone: true, mode: 'date' })
}
