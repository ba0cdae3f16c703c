import type { LimitPage, Rate } from '../../../src/api/limits.ts'
import { figure, span } from '../words.ts'

/** `2 slots for each key; code declares 5`. */
export function allowedWords({ slots, rate, declared }: LimitPage): string {
  const now = rate === undefined ? `${slotWords(slots ?? 0)} for each key` : rateWords(rate)
  if (declared === undefined) return now
  return `${now}; code declares ${typeof declared === 'number' ? slotWords(declared) : rateWords(declared)}`
}

function slotWords(slots: number): string {
  return slots === 1 ? '1 slot' : `${figure(slots)} slots`
}

function rateWords({ limit, perMs, burst }: Rate): string {
  return `${figure(limit)} in each ${span(perMs)}, ${figure(burst)} at once`
}
