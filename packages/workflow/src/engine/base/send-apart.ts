export { type Sending, sendApart } from '../../adapter/send-apart.ts'
