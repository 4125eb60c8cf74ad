/** The workflows from which a person begins, as texts that any page may offer. */
import agent from "./examples/agent.yaml?raw";
import approval from "./examples/approval.yaml?raw";
import nightly from "./examples/nightly.yaml?raw";
import webhook from "./examples/webhook.yaml?raw";

export interface Example {
  readonly key: string;
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

export const EXAMPLES: readonly Example[] = [
  { key: "approval", name: "Approval", about: "A person decides about large amounts; small ones pass at once.", text: approval },
  { key: "webhook", name: "Webhook", about: "Receives a request, asks another service, and answers.", text: webhook },
  { key: "nightly", name: "Nightly check", about: "Runs every night over a list, and collects what failed.", text: nightly },
  { key: "agent", name: "Agent with a person", about: "A model drafts an answer, and a person sends it. Needs a model.", text: agent },
];
