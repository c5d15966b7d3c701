//! An agent with one tool and a model that follows a script: what a real agent does around its requests to the model.
//!
//! `CONDENSE_TARGET=127.0.0.1:50051 cargo run --example agent_loop`

use condense_client::{Client, Format, RECOVERY_TOOL_NAME, Session, recovery_tool};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let target = std::env::var("CONDENSE_TARGET").unwrap_or("127.0.0.1:50051".into());
    let session = Client::connect(target).await?.session("example-of-rust", Format::OpenAiChat);
    session.delete().await?;

    let tools = json!([run_tool_definition(), recovery_tool(Format::OpenAiChat)]);
    let mut messages: Vec<Value> = Vec::new();
    for question in ["How did run 1 go?", "How did run 2 go?", "What exactly was line 3 of run 1?"] {
        messages.push(json!({"role": "user", "content": question}));
        let answer = answer(&session, &mut messages, &tools).await?;
        println!("{question}\n  {answer}");

        let completed = session.flush(&messages).await?.wait().await?;
        println!("  [flush: {}]", completed.outcome().as_str_name());
    }
    let view = session.prune(&messages).await?;
    println!("{}", view.status_line());
    assert!(view.pruned(), "old results are stubs now");
    Ok(())
}

/// Lets the model work until it answers without calling a tool.
async fn answer(session: &Session, messages: &mut Vec<Value>, tools: &Value) -> Outcome<String> {
    loop {
        let view = session.prune(messages).await?;
        let request = json!({"model": "scripted", "messages": view.messages, "tools": tools});
        let reply = ask_model(&request);
        messages.push(reply.clone());
        let Some(calls) = reply["tool_calls"].as_array() else {
            return Ok(reply["content"].as_str().unwrap_or_default().to_owned());
        };
        for call in calls {
            let arguments = &call["function"]["arguments"];
            let result = match call["function"]["name"].as_str() {
                Some(RECOVERY_TOOL_NAME) => session.answer_tool_call(arguments).await?,
                _ => run_tool(arguments.as_str().unwrap_or_default()),
            };
            messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result}));
        }
    }
}

fn run_tool_definition() -> Value {
    json!({"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}})
}

fn run_tool(arguments: &str) -> String {
    (1..=80).map(|line| format!("{arguments}: line {line} is fine\n")).collect()
}

/// Stands for the model. It sees nothing but the request, and asks for the original where it finds a stub.
fn ask_model(request: &Value) -> Value {
    let messages = request["messages"].as_array().expect("a list");
    let last = messages.last().expect("a message");
    let text = last["content"].as_str().unwrap_or_default();
    let question = messages.iter().rev().filter_map(|it| it["content"].as_str()).find(|it| it.contains("run 1?"));
    let call = |name: &str, arguments: Value| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let calls = json!([{"id": format!("call-{}", messages.len()), "type": "function", "function": function}]);
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    };
    if last["role"] == "tool" {
        let line = text.lines().find(|line| line.contains("line 3 ")).expect("the verbatim line");
        json!({"role": "assistant", "content": line})
    } else if question.is_some_and(|it| it.starts_with("What exactly")) {
        call(RECOVERY_TOOL_NAME, json!({"toolCallIds": ["t1"], "slices": [{"ref": "t1", "lines": [3, 3]}]}))
    } else {
        call("run", json!({"number": messages.len()}))
    }
}
