// The storages of a browser, under the name of this package's device.
import data from "./data.mjs";
import * as browser from "./src/browser.mjs";

export const withState = (call, name = data.device.name) => browser.withState(call, name);
export const webStorage = (key = data.device.name, place = undefined) => browser.webStorage(key, place);
